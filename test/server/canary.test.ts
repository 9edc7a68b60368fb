/**
 * Tests where secrets go. It writes every write-only field of an access key in every possible way, each time with a unique
 * value, and then searches all answers, streams, logs and stored items. A key's value appears only in the answer that
 * creates the object. The other values appear only in the sealed attributes of the credential.
 */
import { randomBytes } from 'node:crypto'
import type { ClientRequest } from 'node:http'
import https from 'node:https'
import { inflateRawSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ItemValue } from '../../lib/engine/storage/items.ts'
import { generateAccessKey } from '../../lib/keys/credential/accesskey.ts'
import { accessKey, apiVersion, keys, management } from '../support/objects.ts'
import type { Answer, Call } from '../support/request.ts'
import { startServer, type TestServer } from '../support/server.ts'

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'
const types = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  apply: 'application/apply-patch+yaml',
}

let server: TestServer
/** All answers with the names of their requests. */
const heard: { request: string; text: string }[] = []
const streamed: string[] = []

/** A unique value, whose encodings the search also finds. */
interface Canary {
  value: string
  /** `key` may appear once, in the answer to this request. */
  kind: 'key' | 'sealed'
  shownBy?: string
}
const canaries: Canary[] = []

/** `value` has the form of a custom key by default. */
function canary(
  kind: Canary['kind'],
  shownBy?: string,
  value = `canary-${kind}-${canaries.length}-${randomBytes(18).toString('hex')}`,
): string {
  canaries.push({ value, kind, ...(shownBy !== undefined && { shownBy }) })
  return value
}

/** A spec with all write-only fields, each with a new value. */
const secrets = (shownBy?: string) => ({
  key: canary('key', shownBy),
  identity: { userId: 'u', connectorData: canary('sealed') },
  oidcLogin: { idToken: canary('sealed'), accessToken: canary('sealed'), refreshToken: canary('sealed') },
})
/** Write-only fields beside readable ones, as in a manifest. */
const spec = (shownBy?: string) => ({ user: 'alice', displayName: `n${canaries.length}`, ...secrets(shownBy) })
const object = (name: string, own: object, annotations?: object) => accessKey(name, own, annotations && { annotations })

async function send(request: string, path: string, call: Call, codes: number[]): Promise<Answer> {
  const answer = await server.call(path, call)
  heard.push({ request, text: JSON.stringify(answer.headers) + answer.text })
  expect([request, answer.status, answer.status < 300 ? '' : (answer.json?.message ?? answer.text)]).toEqual([
    request,
    codes.find((code) => code === answer.status) ?? codes,
    expect.any(String),
  ])
  return answer
}
const post = (request: string, body: unknown, more: Call = {}, codes = [201], query = '') =>
  send(request, keys + query, { method: 'POST', body, ...more }, codes)
const patch = (request: string, name: string, type: keyof typeof types, body: unknown, codes = [200], query = '') =>
  send(request, `${keys}/${name}${query}`, { method: 'PATCH', body, headers: { 'content-type': types[type] } }, codes)
const put = async (request: string, name: string, own: object, codes = [200], annotations?: object) => {
  const { json } = await send(`${request}, read before`, `${keys}/${name}`, {}, [200])
  const metadata = { ...json.metadata, ...(annotations && { annotations }) }
  const body = { ...json, metadata, spec: { ...json.spec, ...own } }
  return send(request, `${keys}/${name}`, { method: 'PUT', body }, codes)
}

let watching: ClientRequest[] = []

beforeAll(async () => {
  server = await startServer()
  // Watches that start before the first write, as objects and as Table rows with whole objects.
  const forms = ['application/json', 'application/json;as=Table;v=v1;g=meta.k8s.io']
  watching = await Promise.all(
    forms.map(
      (accept) =>
        new Promise<ClientRequest>((resolve, reject) => {
          const url = `${server.base}${keys}?watch=true&includeObject=Object`
          const headers = { accept, authorization: `Bearer ${server.adminKey}` }
          const request = https.get(url, { headers, ca: server.certificateAuthority }, (response) => {
            response.on('data', (chunk: Buffer) => streamed.push(chunk.toString()))
            response.on('error', () => {})
            resolve(request)
          })
          request.on('error', reject)
        }),
    ),
  )
})
afterAll(async () => {
  for (const request of watching) request.on('error', () => {}).destroy()
  await server?.stop()
})

describe('successful writes', () => {
  test('creates send the canary as JSON and YAML, with Table output and as a dry run', async () => {
    await post('create', object('create', spec('create')))
    const yaml = { headers: { 'content-type': 'application/yaml', accept: 'application/yaml' } }
    await post('create in YAML', JSON.stringify(object('create-yaml', spec('create in YAML'))), yaml)
    const table = { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } }
    await post('create as a Table', object('create-table', spec()), {
      ...table,
      headers: { ...table.headers, 'content-type': 'application/json' },
    })
    await post('create, dry run', object('create-dry', spec()), {}, [201], '?dryRun=All')
  })

  test('creates send the canary in every form of the kubectl apply annotation', async () => {
    const applied = object('annotated', spec())
    await post(
      'create with an annotation',
      object('annotated', spec('create with an annotation'), { [lastApplied]: `${JSON.stringify(applied)}\n` }),
    )
    const odd = [
      JSON.stringify({ spec: { Key: canary('key'), key: [canary('key')] } }),
      `spec: {key: ${canary('key')}}`,
      JSON.stringify({ ...applied, metadata: { annotations: { [lastApplied]: JSON.stringify(object('x', spec())) } } }),
      `{"spec":{"key":"${canary('key')}","key":"${canary('key')}"}}`,
    ]
    for (const [index, text] of odd.entries())
      await post(`odd annotation ${index}`, object(`odd-${index}`, { user: 'alice' }, { [lastApplied]: text }))
  })

  test('PUTs send the canary in a rotation, sealed values, an annotation and the status', async () => {
    await put('PUT', 'create', spec())
    await put('PUT with an annotation', 'create', spec(), [200], {
      [lastApplied]: JSON.stringify(object('create', spec())),
    })
    const { json } = await send('read', `${keys}/create`, {}, [200])
    const body = { ...json, spec: spec(), status: { lastActivity: '2026-01-01T00:00:00Z' } }
    await send('PUT of status', `${keys}/create/status`, { method: 'PUT', body }, [200])
  })

  test('JSON patches send the canary', async () => {
    const own = secrets()
    await patch('JSON patch', 'create', 'json', [
      { op: 'add', path: '/spec/key', value: own.key },
      { op: 'add', path: '/spec/identity', value: own.identity },
      { op: 'add', path: '/spec/oidcLogin', value: own.oidcLogin },
      { op: 'add', path: '/metadata/annotations', value: { [lastApplied]: JSON.stringify(object('create', spec())) } },
    ])
    await patch('JSON patch, a test', 'create', 'json', [{ op: 'test', path: '/spec/key', value: own.key }], [422])
    await patch('JSON patch, a copy', 'create', 'json', [
      { op: 'copy', from: '/spec/identity/connectorData', path: '/spec/description' },
    ])
  })

  test('merge patches send the canary', async () => {
    await patch('merge patch', 'create', 'merge', { spec: spec() })
    await patch('merge patch of status', 'create/status', 'merge', { spec: spec() })
    await patch('merge patch, dry run', 'create', 'merge', { spec: spec() }, [200], '?dryRun=All')
  })

  test('server-side applies send the canary when they create, change, conflict and force', async () => {
    const manager = '?fieldManager=canary'
    await patch('apply that creates', 'applied', 'apply', object('applied', spec('apply that creates')), [201], manager)
    await patch('apply', 'applied', 'apply', object('applied', spec()), [200], manager)
    const other = '?fieldManager=other'
    await patch('apply, a conflict', 'applied', 'apply', object('applied', spec()), [409], other)
    await patch('apply, forced', 'applied', 'apply', object('applied', spec()), [200], `${other}&force=true`)
  })

  test('rotations send the canary, start with it, replace it and refuse it', async () => {
    await post('create to rotate', object('rotated', spec('create to rotate')))
    const rotate = (request: string, own: object, codes = [201], query = '') =>
      send(request, `${keys}/rotated/rotate${query}`, { method: 'POST', body: { spec: own } }, codes)
    await rotate('rotation, dry run', { key: canary('key') }, [201], '?dryRun=All')
    await rotate('rotation', { key: canary('key', 'rotation') })
    await rotate('rotation, refused', { key: canary('key') }, [409])
    await rotate('rotation that replaces', { key: canary('key', 'rotation that replaces'), replace: true })
    await rotate('rotation with finish', { key: canary('key'), finish: true }, [422])
    await rotate('rotation with a typing error', { Key: canary('key') }, [400])
    await rotate('rotation with a list', { key: [canary('key')] }, [422])
    await rotate('rotation with a short value', { key: canary('key', undefined, 'canary-short') }, [422])
    await patch('patch during a rotation', 'rotated', 'merge', { spec: { identity: secrets().identity } })
    await rotate('finish', { finish: true })
  })

  test('creates send the canary in an object that the store compresses', async () => {
    const large = { big: randomBytes(60_000).toString('hex') }
    await post('large', object('large', spec('large'), large))
    await patch('large, changed', 'large', 'merge', { spec: spec() })
  })
})

describe('refused writes', () => {
  const invalidSpecs = (name: string): [string, (value: string) => object][] => [
    [`${name}: list`, (value) => ({ user: 'alice', key: [value] })],
    [`${name}: object`, (value) => ({ user: 'alice', key: { value } })],
    [`${name}: object of lists`, (value) => ({ user: 'alice', identity: [{ connectorData: value }] })],
    [`${name}: text for an object`, (value) => ({ user: 'alice', oidcLogin: value })],
    [`${name}: spaces`, (value) => ({ user: 'alice', key: `${value} and more` })],
    [`${name}: prefix`, (value) => ({ user: 'alice', key: `mpk_${value}` })],
    [`${name}: beside a mistake`, (value) => ({ user: 'alice', ttl: -1, key: value })],
    [`${name}: beside what may not be`, (value) => ({ user: 'system:admin', key: value })],
  ]
  // kube-apiserver returns 500 for an applied configuration that does not match its schema.
  const refused = [400, 409, 422, 500]

  test('send the canary by POST, PUT, merge patch, JSON patch and apply', async () => {
    await post('target', object('target', { user: 'alice' }))
    for (const [name, own] of invalidSpecs('create'))
      await post(name, object('misfit', own(canary('key'))), {}, refused)
    for (const [name, own] of invalidSpecs('PUT')) await put(name, 'target', own(canary('key')), refused)
    for (const [name, own] of invalidSpecs('merge'))
      await patch(name, 'target', 'merge', { spec: own(canary('key')) }, refused)
    for (const [name, own] of invalidSpecs('JSON')) {
      const operations = [{ op: 'replace', path: '/spec', value: own(canary('key')) }]
      await patch(name, 'target', 'json', operations, refused)
    }
    for (const [name, own] of invalidSpecs('apply')) {
      const body = object('target', own(canary('key')))
      await patch(name, 'target', 'apply', body, refused, '?fieldManager=canary')
    }
  })

  test('send the canary in unknown fields with strict validation', async () => {
    const own = { user: 'alice', Key: canary('key'), identity: { connectordata: canary('key') } }
    await post('unknown', object('unknown', own), {}, [400], '?fieldValidation=Strict')
  })

  test('send the canary in bodies that do not parse', async () => {
    const json = { headers: { 'content-type': 'application/json' } }
    const yaml = { headers: { 'content-type': 'application/yaml' } }
    await post('broken JSON', `{"spec":{"key":"${canary('key')}"`, json, [400])
    await post('broken JSON value', `{"spec":{"key":${canary('key')}}}`, json, [400])
    await post('broken YAML', `spec: {key: ${canary('key')}`, yaml, [400])
    await post('broken YAML value', `spec:\n  key: ${canary('key')}: x\n`, yaml, [400])
    await patch('broken patch', 'target', 'json', `[{"op":"${canary('key')}"}]`, [400, 422])
    await patch(
      'broken patch path',
      'target',
      'json',
      [{ op: 'add', path: '/spec/ttl/x', value: canary('key') }],
      [422],
    )
  })

  test('send the canary in a name, a selector and a header', async () => {
    const value = canary('key')
    await send('unknown bearer', keys, { token: value }, [401])
    await send('duplicate', keys, { method: 'POST', body: object('one', { key: value }) }, [201])
    const [last] = canaries.slice(-1)
    if (last) last.shownBy = 'duplicate'
    await post('duplicate again', object('two', { key: value }), {}, [422])
    await put('duplicate by PUT', 'target', { key: value }, [422])
    await send('use', keys, { token: value }, [200])
  })
})

describe('generated keys in the wrong place', () => {
  const newGeneratedKey = () => canary('key', undefined, generateAccessKey(randomBytes))

  const places: [string, (value: string) => object][] = [
    ['name', (value) => ({ metadata: { name: value } })],
    ['generateName', (value) => ({ metadata: { name: null, generateName: value } })],
    ['namespace', (value) => ({ metadata: { namespace: value } })],
    ['uid', (value) => ({ metadata: { uid: value } })],
    ['resourceVersion', (value) => ({ metadata: { resourceVersion: value } })],
    ['label', (value) => ({ metadata: { labels: { a: value } } })],
    ['name of a label', (value) => ({ metadata: { labels: { [value]: 'a' } } })],
    ['annotation', (value) => ({ metadata: { annotations: { a: `see ${value}.` } } })],
    ['name of an annotation', (value) => ({ metadata: { annotations: { [`a/${value}`]: 'a' } } })],
    ['JSON in an annotation', (value) => ({ metadata: { annotations: { a: JSON.stringify({ a: [{ b: value }] }) } } })],
    ['finalizer', (value) => ({ metadata: { finalizers: [`example.com/${value}`] } })],
    [
      'owner',
      (value) => ({ metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: value, uid: value }] } }),
    ],
    [
      'manager',
      (value) => ({
        metadata: {
          managedFields: [
            { manager: value, operation: 'Update', apiVersion, fieldsType: 'FieldsV1', fieldsV1: { 'f:spec': {} } },
          ],
        },
      }),
    ],
    ['displayName', (value) => ({ spec: { displayName: value } })],
    ['description', (value) => ({ spec: { description: `it is ${value}!` } })],
    ['user', (value) => ({ spec: { user: value } })],
    ['subject', (value) => ({ spec: { subject: value } })],
    ['groups', (value) => ({ spec: { groups: [value] } })],
    ['scope', (value) => ({ spec: { scope: { projects: [{ project: value }] } } })],
    ['identity', (value) => ({ spec: { identity: { userId: value } } })],
    ['type', (value) => ({ spec: { type: value } })],
    ['ttl', (value) => ({ spec: { ttl: value } })],
    ['unknown field', (value) => ({ spec: { [value]: value }, [value]: value })],
    ['kind', (value) => ({ kind: value })],
    ['apiVersion', (value) => ({ apiVersion: value })],
  ]

  // threat: storage-2
  test('are rejected with the name of the field and without the value', async () => {
    const target = 'misplaced'
    await post('a place for none', object(target, { user: 'alice' }))
    const base = { apiVersion, kind: 'OwnedAccessKey' }
    for (const [name, place] of places) {
      const made = place(newGeneratedKey()) as { metadata?: object; spec?: object }
      const body = {
        ...base,
        ...made,
        metadata: { name: 'x', ...made.metadata },
        spec: { user: 'alice', ...made.spec },
      }
      // Server-owned fields are dropped.
      const dropped = ['namespace', 'uid', 'resourceVersion', 'manager', 'unknown field'].includes(name)
      const codes = dropped ? [201, 400, 422] : [400, 422]
      await post(`${name} of a POST`, body, {}, codes, '?fieldValidation=Warn&dryRun=All')
      await post(`${name} of a strict POST`, body, {}, codes, '?fieldValidation=Strict&dryRun=All')
      const refused = [400, 409, 422, 500]
      await patch(`${name} of a merge patch`, target, 'merge', place(newGeneratedKey()), [200, ...refused])
      const applied = { ...base, ...place(newGeneratedKey()) }
      await patch(`${name} of an apply`, target, 'apply', applied, [200, ...refused], '?fieldManager=m&force=true')
      const operations = Object.entries(place(newGeneratedKey())).map(([member, value]) => ({
        op: 'replace',
        path: `/${member}`,
        value,
      }))
      await patch(`${name} of a JSON patch`, target, 'json', operations, [200, ...refused])
    }
    const { json } = await post('a named field', object('x', { description: newGeneratedKey() }), {}, [422])
    expect(json.details.causes).toEqual([
      {
        reason: 'FieldValueInvalid',
        field: 'spec.description',
        message: 'Invalid value: <redacted>: may not contain an access key or a token of this service',
      },
    ])
  })

  // threat: storage-2
  test('are redacted in messages about paths, queries and headers', async () => {
    const any = [200, 400, 403, 404, 405, 406, 410, 415, 422, 504]
    for (const path of ['', '/status', '/x']) await send(`path${path}`, `${keys}/${newGeneratedKey()}${path}`, {}, any)
    await send('resource', `${management}/${newGeneratedKey()}`, {}, any)
    await send('group', `/apis/${newGeneratedKey()}/v1/x`, {}, any)
    await send('namespace', `/api/v1/namespaces/${newGeneratedKey()}`, {}, any)
    const options = ['fieldSelector', 'labelSelector', 'limit', 'continue', 'resourceVersion', 'timeoutSeconds']
    for (const option of options) await send(option, `${keys}?${option}=${newGeneratedKey()}`, {}, any)
    await send('selected', `${keys}?fieldSelector=metadata.name%3D${newGeneratedKey()}`, {}, any)
    for (const option of ['fieldManager', 'fieldValidation', 'dryRun'])
      await post(option, object('x', { user: 'alice' }), {}, any, `?${option}=${newGeneratedKey()}`)
    await send('propagation', `${keys}/none?propagationPolicy=${newGeneratedKey()}`, { method: 'DELETE' }, any)
    for (const header of ['accept', 'content-type', 'impersonate-user', 'user-agent']) {
      const headers = { 'content-type': 'application/json', [header]: newGeneratedKey() }
      await post(header, JSON.stringify(object('x', { user: 'alice' })), { headers }, any)
    }
  })

  // threat: storage-2
  test('are removed from the kubectl apply annotation, as are fields that the kind does not have', async () => {
    const name = 'noted'
    const manifests: ((value: string) => object)[] = [
      (value) => ({ Spec: { key: value } }),
      (value) => ({ items: [{ spec: { key: value } }] }),
      (value) => ({ metadata: { name, key: value, Annotations: { a: value } } }),
      (value) => ({ spec: { scope: { project: value }, Key: value } }),
      (value) => ({ data: value, stringData: { key: value } }),
    ]
    const noted = []
    for (const [index, manifest] of manifests.entries()) {
      for (const value of [newGeneratedKey(), canary('key')]) {
        const text = JSON.stringify({ ...object(name, { user: 'alice' }), ...manifest(value) })
        const body = object(`${name}-${noted.length}`, { user: 'alice' }, { [lastApplied]: text })
        const { json } = await post(`noted ${index}`, body)
        noted.push(Object.keys(JSON.parse(json.metadata.annotations[lastApplied])))
      }
    }
    expect(new Set(noted.flat())).toEqual(new Set(['apiVersion', 'kind', 'metadata', 'spec']))
    // In known fields, only the value reveals a key.
    const told = object(name, { user: 'alice', description: newGeneratedKey() })
    const { json } = await post('noted', object('told', {}, { [lastApplied]: JSON.stringify(told) }))
    expect(json.metadata.annotations).toBeUndefined()
  })
})

describe('the canary does not appear', () => {
  beforeAll(async () => {
    // All reads, after all writes.
    const { json } = await send('list', keys, {}, [200])
    const accept = (value: string) => ({ headers: { accept: value } })
    await send('list in YAML', keys, accept('application/yaml'), [200])
    const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    await send('list as a Table', `${keys}?includeObject=Object`, accept(table), [200])
    for (const { metadata } of json.items) await send('get', `${keys}/${metadata.name}`, {}, [200])
    const { metadata } = json.items[0]
    await send('watch', `${keys}?watch=true&timeoutSeconds=1&resourceVersion=${metadata.resourceVersion}`, {}, [200])
    await send('deletecollection', `${keys}?labelSelector=!kept&dryRun=All`, { method: 'DELETE' }, [200])
    const name = 'last'
    await post('last', object(name, { user: 'alice' }))
    await waitForStream(name)
  })

  /** Waits until the open watches have delivered everything up to the object of this name. */
  async function waitForStream(name: string): Promise<void> {
    const isStreamed = () => streamed.join('').split(`"name":"${name}"`).length > 2
    while (!isStreamed()) await new Promise((resolve) => setTimeout(resolve, 20))
  }

  test('there is something to search', () => {
    expect(canaries.filter(({ kind }) => kind === 'key').length).toBeGreaterThan(50)
    expect(canaries.filter(({ kind }) => kind === 'sealed').length).toBeGreaterThan(50)
    expect(heard.length).toBeGreaterThan(80)
    expect(streamed.join('')).toContain('"MODIFIED"')
  })

  // threat: storage-3
  test('in any answer except the one to the create', () => {
    const where = new Map(canaries.map(({ value }) => [value, [] as string[]]))
    for (const { request, text } of heard) for (const value of canariesIn(text)) where.get(value)?.push(request)
    const shown = canaries.map(({ value, shownBy }) => [value, shownBy === undefined ? [] : [shownBy]])
    expect([...where]).toEqual(shown)
  })

  // threat: storage-3
  test('in an open watch', () => expect(canariesIn(streamed.join(''))).toEqual([]))

  // threat: logs-1
  test('in the log', () => {
    const log = server.log.join('')
    expect(log).toContain('"requestId"')
    expect(canariesIn(log)).toEqual([])
  })

  // threat: events-1
  test('in events', async () => {
    const published = () => server.services.published.join('')
    // That of the last change of all.
    while (!published().includes('"name":"last"')) await new Promise((resolve) => setTimeout(resolve, 50))
    expect(server.services.published.length).toBeGreaterThan(30)
    expect(canariesIn(published())).toEqual([])
    expect(published()).not.toContain(server.adminKey)
  })

  // threat: storage-3
  test('in managed fields', () => {
    const all = heard.map(({ text }) => text).join('') + streamed.join('')
    expect(all).toContain('f:displayName')
    for (const field of ['key', 'connectorData', 'idToken', 'accessToken', 'refreshToken']) {
      expect(all).not.toContain(`f:${field}"`)
      expect(all).not.toContain(`f:${field}:`)
    }
  })

  // threat: storage-1
  test('in the table outside sealed credentials, where the key is not stored either', async () => {
    const sealed = new Set(canaries.filter(({ kind }) => kind === 'sealed').map(({ value }) => value))
    let items = 0
    let compressed = 0
    for (const item of await server.store.all()) {
      items += 1
      for (const [name, value] of Object.entries(item)) {
        if (value instanceof Uint8Array) compressed += 1
        const isSealed = item.pk.startsWith('credential#') && name.startsWith('sealed:')
        const values = canariesIn(name + textOf(value)).filter((one) => !(isSealed && sealed.has(one)))
        expect([item.pk, name, values]).toEqual([item.pk, name, []])
      }
    }
    expect(items).toBeGreaterThan(50)
    expect(compressed).toBeGreaterThan(0)
  })

  const textOf = (value: ItemValue): string =>
    value instanceof Uint8Array ? inflateRawSync(value).toString() : JSON.stringify(value)
  let searched: [form: string, value: string][]
  const canariesIn = (text: string): string[] => {
    searched ??= canaries.flatMap(({ value }) => forms(value).map((form): [string, string] => [form, value]))
    return [...new Set(searched.flatMap(([form, value]) => (text.includes(form) ? [value] : [])))]
  }
})

/** Returns the value, its end (because texts are also truncated at the front), and its base64 at each of the three alignments. */
function forms(value: string): string[] {
  const aligned = [0, 1, 2].map((shift) => {
    const encoded = Buffer.from('x'.repeat(shift) + value).toString('base64')
    return encoded.slice(4, -4)
  })
  return [value, value.slice(-24), value.slice(0, 30), ...aligned]
}
