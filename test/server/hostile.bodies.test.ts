/** Tests bodies that try to confuse the server, exhaust it or run code. */
import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { basePath } from '../support/deployment.ts'
import { soak } from '../support/effort.ts'
import { apiVersion } from '../support/objects.ts'
import { instances, isHealthy, key, keys, management, useVictims } from '../support/victims.ts'

const victims = useVictims()
const { held, send, self, refused } = victims

describe('hostile bodies', () => {
  const deep = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth)
  const json = (spec: string) =>
    `{"apiVersion":"${apiVersion}","kind":"OwnedAccessKey","metadata":{"generateName":"body-"},"spec":${spec}}`

  const bodies: [string, string | Buffer][] = [
    ['an empty body', ''],
    ['null', 'null'],
    ['a number', '1e999'],
    ['a list', '[]'],
    ['text', '"OwnedAccessKey"'],
    ['half an object', '{"spec":'],
    ['two objects', `${json('{}')}${json('{}')}`],
    ['a byte order mark', `\ufeff${json('{}')}`],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
    ['a NUL', `{"spec":{"user":"a${'\u0000'}b"}}`],
    ['deep objects', deep('{"a":', '1}', 50_000).replace('1}1}', '1}}')],
    ['deep lists', json(deep('[', ']', 100_000))],
    ['deep lists instead of text', json(`{"user":${deep('[', ']', 5000)}}`)],
    ['numbers that overflow', json('{"ttl":1e400}')],
    ['numbers that are too large', json('{"ttl":99999999999999999999999999}')],
    ['long numbers', json(`{"ttl":${'9'.repeat(500_000)}}`)],
    ['small numbers', json('{"ttl":-9223372036854775808}')],
    ['fractions', json('{"ttl":0.5}')],
    ['other types everywhere', json('{"user":1,"groups":"x","scope":true,"disabled":"yes","identity":[],"ttl":"1"}')],
    ['other types in metadata', '{"apiVersion":"management.platform/v1","kind":"OwnedAccessKey","metadata":[]}'],
    ['labels of another type', '{"metadata":{"name":"a","labels":{"a":{}}}}'],
    [
      'very many owners',
      `{"apiVersion":"${apiVersion}","kind":"OwnedAccessKey","metadata":{"name":"a","ownerReferences":[${Array.from({ length: 2000 }, (_, index) => `{"apiVersion":"v1","kind":"a","name":"a","uid":"${index}"}`).join(',')}]}}`,
    ],
    ['a key that is too short', json('{"key":"x"}')],
    ['a JWT for a key', json('{"key":"eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.c2lnbmF0dXJlLW9mLXNvbWVib2R5"}')],
    ['a name that is a path', `{"apiVersion":"${apiVersion}","kind":"OwnedAccessKey","metadata":{"name":"../victim"}}`],
    ['a name of a prototype', `{"apiVersion":"${apiVersion}","kind":"OwnedAccessKey","metadata":{"name":"__proto__"}}`],
    [
      'a long name',
      `{"apiVersion":"${apiVersion}","kind":"OwnedAccessKey","metadata":{"name":"${'a'.repeat(300_000)}"}}`,
    ],
    ['a wide scope', json(`{"scope":{"projects":[${Array(3000).fill('{"project":"a"}').join(',')}]}}`)],
    ['another kind', '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}'],
    ['more than 3 MiB', json(`{"description":"${'a'.repeat(3 * 1024 * 1024)}"}`)],
  ]

  test.each(bodies)('create no key and harm no endpoint: %s', async (name, body) => {
    await refused([{ method: 'POST', path: keys, token: held.alice, body }])
    const made = await send({ method: 'POST', path: keys, token: held.alice, body: json('{"user":"alice"}') })
    const target = `${keys}/${made.json.metadata.name}`
    const put = [{ method: 'PUT', path: target, token: held.alice, body }]
    const patches = ['json-patch+json', 'merge-patch+json', 'apply-patch+yaml', 'strategic-merge-patch+json'].map(
      (type) => ({
        method: 'PATCH',
        path: `${target}?fieldManager=x`,
        token: held.alice,
        headers: { 'content-type': `application/${type}` },
        body,
      }),
    )
    const others = [
      `${management}/directclusterendpointtokens`,
      `${instances('p-a')}/x/kubeconfig`,
      `${management}/selves`,
      `${basePath}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews`,
    ].map((path) => ({ method: 'POST', path, token: held.alice, body }))
    const remove = { method: 'DELETE', path: `${keys}/nothing`, token: held.alice, body }
    // All have one parser, so that `npm test` sends each body to some of them.
    const turn = bodies.findIndex(([one]) => one === name) % 4
    const attacks = [...put, ...patches, ...others, remove].filter((_, index) => soak || index % 4 === turn)
    for (const attack of attacks) {
      const reply = await send(attack)
      expect([attack.method, attack.path, isHealthy(reply)]).toEqual([attack.method, attack.path, true])
    }
    expect((await self(made.json.spec.key)).groups).toEqual(['system:authenticated'])
  })

  test('treats names of prototype members as plain names', async () => {
    const evil = '{"groups":["system:masters"],"scope":null,"allowed":true,"status":500}'
    const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', 'then']
    for (const name of names) {
      const spec = `{"${name}":${evil},"identity":{"extraClaims":{"${name}":"x"},"${name}":${evil}},"scope":{"${name}":${evil}}}`
      const path = `${keys}?fieldValidation=Warn`
      const posted = await send({ method: 'POST', path, token: held.alice, body: json(spec) })
      // One of these names is not allowed in any body.
      expect([name, posted.status]).toEqual([name, name === '__proto__' ? 400 : 201])
      const { json: made } =
        posted.status === 201 ? posted : await send({ method: 'POST', path: keys, token: held.alice, body: json('{}') })
      expect((await self(made.spec.key)).groups).toEqual(['system:authenticated'])
      const target = `${keys}/${made.metadata.name}?fieldValidation=Warn`
      const type = (one: string) => ({ 'content-type': `application/${one}` })
      const attacks = [
        {
          headers: type('merge-patch+json'),
          body: `{"${name}":${evil},"spec":{"${name}":${evil}},"metadata":{"${name}":${evil},"labels":{"${name}":"x"}}}`,
        },
        { headers: type('json-patch+json'), body: [{ op: 'add', path: `/${name}/groups`, value: ['system:masters'] }] },
        {
          headers: type('json-patch+json'),
          body: [{ op: 'add', path: `/spec/${name}`, value: { groups: ['system:masters'] } }],
        },
        { headers: type('json-patch+json'), body: [{ op: 'copy', from: `/${name}`, path: '/spec/description' }] },
        { headers: type('json-patch+json'), body: [{ op: 'test', path: `/spec/${name}/name`, value: 'Object' }] },
        { headers: type('json-patch+json'), body: [{ op: name, path: '/spec' }] },
        {
          headers: type('apply-patch+yaml'),
          body: `apiVersion: ${apiVersion}\nkind: OwnedAccessKey\nmetadata: {name: ${made.metadata.name}, labels: {${name}: x}}\n${name}: ${evil}\n`,
        },
      ]
      for (const attack of attacks)
        expect(
          isHealthy(
            await send({ method: 'PATCH', path: `${target}&fieldManager=x&force=true`, token: held.alice, ...attack }),
          ),
        ).toBe(true)
      const after = await self(made.spec.key)
      expect([after.groups, after.subject]).toEqual([['system:authenticated'], 'alice'])
    }
    // The functions run in this process.
    expect(({} as { groups?: unknown }).groups).toBeUndefined()
    expect(Object.keys(Object.prototype)).toEqual([])
  })

  test('rejects duplicate members, so that a body has one meaning', async () => {
    const twice = [
      '{"user":"alice","user":"bob"}',
      '{"user":"bob","user":"alice","groups":["dev"],"groups":["system:masters"]}',
      '{"user":"alice","us\\u0065r":"bob"}',
    ]
    await refused(
      twice.map((spec) => ({
        method: 'POST',
        path: `${keys}?fieldValidation=Strict`,
        token: held.alice,
        body: json(spec),
      })),
      [400],
    )
    await refused(
      twice.map((spec) => ({ method: 'POST', path: keys, token: held.alice, body: json(spec) })),
      [400],
    )
    const path = `${keys}?fieldValidation=Warn`
    await refused(
      twice.map((spec) => ({ method: 'POST', path, token: held.alice, body: json(spec) })),
      [403],
    )
    const once = await send({ method: 'POST', path, token: held.alice, body: json('{"user":"bob","user":"alice"}') })
    expect((await self(once.json.spec.key)).subject).toBe('alice')
  })

  const list = (count: number, one: (index: number) => string) => Array.from({ length: count }, (_, i) => one(i)).join()
  const bodyWith = (metadata: string) =>
    `{"apiVersion":"${apiVersion}","kind":"OwnedAccessKey","metadata":{"generateName":"body-",${metadata}},"spec":{}}`
  const owner = (index: number) =>
    `{"apiVersion":"v1","kind":"K","name":"n","uid":"${index}","controller":true,"blockOwnerDeletion":true}`

  test.each<[string, () => string]>([
    ['numbers for groups', () => json(`{"groups":[${list(90_000, () => '0')}]}`)],
    ['roles', () => json(`{"scope":{"roles":[${list(40_000, () => '{"role":"x"}')}]}}`)],
    [
      'claims below a long name',
      () =>
        json(`{"identity":{"extraClaims":{"${'x'.repeat(1_000_000)}":{${list(90_000, (index) => `"a${index}":0`)}}}}}`),
    ],
    ['owners', () => bodyWith(`"ownerReferences":[${list(10_000, owner)}]`)],
    ['labels', () => bodyWith(`"labels":{${list(90_000, (index) => `"_${index}":"!"`)}}`)],
    ['a long label', () => bodyWith(`"labels":{"${'a-'.repeat(1_000_000)}":"${'<'.repeat(500_000)}"}`)],
  ])('small bodies have no large answers: %s', async (_, body) => {
    const { status, text } = await send({ method: 'POST', path: keys, token: held.alice, body: body() })
    expect([status === 422 || status === 400, text.length < 1_000_000]).toEqual([true, true])
  })

  test('a body has at most 100,000 values', async () => {
    const body = json(`{"groups":[${list(1_000_000, () => '0')}]}`)
    await refused([{ method: 'POST', path: keys, token: held.alice, body }], [400])
  })

  test('an object cannot grow step by step until lists of it fail', async () => {
    const { json: made } = await send({ method: 'POST', path: keys, token: held.alice, body: json('{}') })
    const statuses = []
    for (const claim of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const headers = { 'content-type': 'application/merge-patch+json' }
      const body = { spec: { identity: { extraClaims: { [claim]: 'x'.repeat(500_000) } } } }
      const path = `${keys}/${made.metadata.name}`
      statuses.push((await send({ method: 'PATCH', path, token: held.alice, headers, body })).status)
    }
    expect(statuses).toEqual([200, 200, 200, 413, 413, 413])
  })

  test('no object is too large to disable and delete', async () => {
    const type = { 'content-type': 'application/merge-patch+json' }
    const outcomes: [size: number, made: number, disabled: number, deleted: number, used: number][] = []
    // The last ones that fit are filled up by the labels and annotations below.
    const sizes = soak ? Array.from({ length: 9 }, (_, index) => 160_000 + 30_000 * index) : [240_000, 250_000]
    for (const size of sizes) {
      const spec = { description: randomBytes(size * 0.75).toString('base64') }
      const object = key('', spec, { metadata: { generateName: 'large-', finalizers: ['example.com/hold'] } })
      const { status: made, json } = await send({ method: 'POST', path: keys, token: held.alice, body: object })
      if (made === 413) continue
      const path = `${keys}/${json.metadata.name}`
      // An owner must not prevent deletion by filling the object.
      for (const step of [4096, 2048, 1024, 512, 256, 128, 64, 32, 16]) {
        const body = {
          metadata: {
            labels: { [`a${step}.b/c`]: '' },
            annotations: { [`x/${step}`]: randomBytes(step).toString('hex') },
          },
        }
        await send({ method: 'PATCH', path, token: held.alice, headers: type, body })
      }
      const disabled = { spec: { disabled: true } }
      outcomes.push([
        size,
        made,
        (await send({ method: 'PATCH', path, token: held.admin, headers: type, body: disabled })).status,
        (await send({ method: 'DELETE', path, token: held.admin })).status,
        (await send({ path: keys, token: json.spec.key })).status,
      ])
    }
    expect(outcomes.length).toBeGreaterThan(1)
    expect(outcomes).toEqual(outcomes.map(([size]) => [size, 201, 200, 200, 401]))
  })

  // It compresses to almost nothing, so only the limit on its text applies.
  test('no object has too much text to disable and delete', async () => {
    const type = { 'content-type': 'application/merge-patch+json' }
    const createLong = (length: number) => {
      const metadata = { generateName: 'long-', finalizers: ['example.com/hold'] }
      const body = key('', { description: 'x'.repeat(length) }, { metadata })
      return send({ method: 'POST', path: keys, token: held.alice, body })
    }
    let [fits, large] = [1_560_000, 1_573_000]
    let longest = await createLong(fits)
    while (large - fits > 1) {
      const middle = (fits + large) >> 1
      const { status, ...reply } = await createLong(middle)
      if (status !== 201) large = middle
      else {
        await send({ method: 'DELETE', path: `${keys}/${longest.json.metadata.name}`, token: held.alice })
        ;[fits, longest] = [middle, { status, ...reply }]
      }
    }
    const path = `${keys}/${longest.json.metadata.name}`
    const disabled = await send({
      method: 'PATCH',
      path,
      token: held.admin,
      headers: type,
      body: { spec: { disabled: true } },
    })
    const deleted = await send({ method: 'DELETE', path, token: held.admin })
    const used = await send({ path: keys, token: longest.json.spec.key })
    expect([longest.status, disabled.status, deleted.status, used.status]).toEqual([201, 200, 200, 401])
  })

  test('does not answer in a format that the client did not ask for', async () => {
    const accepts = [
      'text/html',
      'image/svg+xml',
      'application/xml',
      'application/json;as=Nonsense',
      'application/vnd.kubernetes.protobuf',
      '*/*;q=abc',
      ','.repeat(5000),
      'x'.repeat(7000),
    ]
    for (const accept of accepts) {
      const { status, text } = await send({ path: `${keys}/%3Cscript%3E`, token: held.alice, headers: { accept } })
      expect([accept.slice(0, 40), status < 500]).toEqual([accept.slice(0, 40), true])
      expect(text).not.toContain('<script>')
    }
  })
})

test('leaves everything of other users unchanged', () => victims.unharmed())
