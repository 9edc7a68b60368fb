/** Tests that a misspelled or misplaced field never grants more access than intended. */
import { describe, expect, test } from 'vitest'
import { type Invocation, useFunctions } from '../support/functions.ts'
import { accessKeys, callsOf, instances, objectOf, trusts } from './stored/fixtures.ts'

const functions = useFunctions()
const { call, make, read, patch } = callsOf(functions, accessKeys)
const apiVersion = 'management.platform/v1'

const type = (text: string) => ({ 'content-type': `application/${text}` })
const json = (name: string, rest: string) =>
  `{"apiVersion":"${apiVersion}","kind":"OwnedAccessKey","metadata":{"name":"${name}"},${rest}}`

let count = 0
const fresh = () => `typo-${++count}`

describe('a creation', () => {
  // threat: users-18
  test.each<[string, string]>([
    ['"spec":{"scopes":{"clusters":[{"cluster":"eu"}]}}', 'unknown field "spec.scopes"'],
    ['"spec":{"scope":{"cluster":[{"cluster":"eu"}]}}', 'unknown field "spec.scope.cluster"'],
    ['"spec":{"ttl":60,"ttl":0}', 'duplicate field "spec.ttl"'],
    // The whole spec under a wrong name, and a line without indentation.
    ['"Spec":{"ttl":60}', 'unknown field "Spec"'],
    ['"spec":{},"ttl":60', 'unknown field "ttl"'],
  ])('with %s is rejected, unless the client requests other validation', async (rest, finding) => {
    const name = fresh()
    const refused = await call('create', { body: json(name, rest) })
    expect([refused.status, refused.json.reason, refused.json.message]).toEqual([
      400,
      'BadRequest',
      expect.stringContaining(`strict decoding error: ${finding}`),
    ])
    expect(await read(name)).toMatchObject({ code: 404 })
    for (const fieldValidation of ['Warn', 'Ignore']) {
      const { status, headers } = await call('create', { body: json(fresh(), rest), query: { fieldValidation } })
      // The key itself may deserve another warning.
      const isNamed = [headers.warning].flat().some((one) => one?.includes(' field '))
      expect([status, isNamed]).toEqual([201, fieldValidation === 'Warn'])
    }
  })

  test('with unknown fields in metadata or status returns a warning', async () => {
    const body = { ...objectOf(accessKeys, { name: fresh(), nothing: 1 }), status: { nothing: 1 } }
    const { status, headers } = await call('create', { body })
    expect([status, headers.warning]).toEqual([201, expect.arrayContaining([expect.stringContaining('nothing')])])
  })
})

describe('a change', () => {
  // threat: users-18
  test.each<[string, string, (name: string) => string, number]>([
    ['a PUT', 'update', (name) => json(name, '"spec":{"scopes":{}}'), 400],
    ['a merge patch', 'merge-patch+json', () => '{"spec":{"scopes":{}}}', 422],
    ['a merge patch with a duplicate field', 'merge-patch+json', () => '{"spec":{"ttl":60,"ttl":0}}', 422],
    ['a JSON patch', 'json-patch+json', () => '[{"op":"add","path":"/spec/scopes","value":{}}]', 422],
    [
      'a JSON patch with a duplicate field',
      'json-patch+json',
      () => '[{"op":"add","path":"/spec","value":{"ttl":60,"ttl":0}}]',
      422,
    ],
    ['an apply with a duplicate field', 'apply-patch+yaml', (name) => json(name, '"spec":{"ttl":60,"ttl":0}'), 400],
  ])('by %s is rejected, unless the client requests other validation', async (_, verb, body, code) => {
    const name = fresh()
    const { metadata } = await make({ name }, {})
    const text = body(name).replace('"},', `","resourceVersion":"${metadata.resourceVersion}"},`)
    const send = (query: Record<string, string>) =>
      verb === 'update'
        ? call('update', { parameters: { name }, body: text, query })
        : call('patch', { parameters: { name }, body: body(name), headers: type(verb), query })
    const manager = { fieldManager: 'tester' }
    expect((await send(manager)).status).toBe(code)
    expect((await read(name)).metadata.resourceVersion).toBe(metadata.resourceVersion)
    expect((await send({ ...manager, fieldValidation: 'Warn' })).status).toBe(200)
  })

  test('of the status ignores unknown fields in spec', async () => {
    const name = fresh()
    await make({ name }, {})
    const body = '{"spec":{"scopes":{}},"status":{}}'
    expect((await patch(name, 'merge', body, { subresource: 'status' })).status).toBe(200)
  })
})

describe('a kind that is not stored', () => {
  test.each([
    ['directclusterendpointtokens/create', 'DirectClusterEndpointToken', { scopes: { clusters: [{ cluster: 'eu' }] } }],
    ['ownedaccesskeys/rotate', 'OwnedAccessKeyRotation', { overlap: 600 }],
    ['virtualclusterinstances/kubeconfig/create', 'VirtualClusterInstanceKubeConfig', { certificateTtl: 600 }],
  ])('%s rejects an unknown field', async (name, kind, spec) => {
    const [field = ''] = Object.keys(spec)
    const { status, json } = await functions.invoke(name, { body: { apiVersion, kind, spec }, query: {} })
    expect([status, json.message]).toEqual([400, expect.stringContaining(`unknown field "spec.${field}"`)])
  })

  // It issues no credential, and newer clients may send more fields.
  test('a self review accepts unknown fields with a warning', async () => {
    const { status, headers } = await functions.invoke('selves/create', {
      body: { apiVersion, kind: 'Self', spec: { nothing: 1 } },
      query: {},
    })
    expect([status, headers.warning]).toEqual([201, ['299 - "unknown field \\"spec.nothing\\""']])
  })
})

// threat: users-18
test('an instance with a misspelled access field is rejected', async () => {
  const { call: callInstances } = callsOf(functions, instances)
  const spec = { access: [{ verbs: ['*'], users: ['bob'], subresource: ['kubeconfig'] }] }
  const body = objectOf(instances, { name: 'typo' }, spec)
  const { status, json } = await callInstances('create', { parameters: instances.parameters, body })
  expect([status, json.message]).toEqual([400, expect.stringContaining('unknown field "spec.access[0].subresource"')])
})

describe('a misspelled dryRun', () => {
  const key = { metadata: { name: 'earnest' }, spec: {} }
  const parameters = { name: 'earnest' }
  const merge = type('merge-patch+json')
  const token = { spec: { scope: { clusters: [{ cluster: 'eu' }] } } }
  const inNamespace = { ...instances.parameters, name: 'preview' }

  // threat: revocation-2
  test.each<[string, Invocation]>([
    ['ownedaccesskeys/create', { body: key }],
    ['ownedaccesskeys/update', { parameters, body: key }],
    ['ownedaccesskeys/patch', { parameters, headers: merge, body: { spec: { key: 'x' } } }],
    ['ownedaccesskeys/delete', { parameters, body: null }],
    ['ownedaccesskeys/deletecollection', { body: null }],
    ['ownedaccesskeys/rotate', { parameters, body: {} }],
    ['directclusterendpointtokens/create', { body: token }],
    ['virtualclusterinstances/kubeconfig/create', { parameters: inNamespace, body: {} }],
    ['federatedidentitycredentials/create', { body: objectOf(trusts, { name: 'earnest' }) }],
  ])('of %s is a 400', async (name, invocation) => {
    for (const option of ['dryrun', 'dry_run', 'dryRun[]']) {
      const { status, json } = await functions.invoke(name, { ...invocation, query: { [option]: 'All' } })
      const message = `unknown query parameter "${option}": a dry run is requested with dryRun=All`
      expect([status, json.message]).toEqual([400, message])
    }
    expect((await read('earnest')).code).toBe(404)
  })
})
