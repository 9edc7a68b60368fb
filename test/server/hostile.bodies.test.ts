/** Tests bodies and objects whose size is meant to exhaust the server. */
import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { apiVersion } from '../support/objects.ts'
import { key, keys, useVictims } from '../support/victims.ts'

const victims = useVictims()
const { held, send, refused } = victims

describe('hostile bodies', () => {
  const json = (spec: string) =>
    `{"apiVersion":"${apiVersion}","kind":"OwnedAccessKey","metadata":{"generateName":"body-"},"spec":${spec}}`

  const list = (count: number, one: (index: number) => string) => Array.from({ length: count }, (_, i) => one(i)).join()
  const bodyWith = (metadata: string) =>
    `{"apiVersion":"${apiVersion}","kind":"OwnedAccessKey","metadata":{"generateName":"body-",${metadata}},"spec":{}}`
  const owner = (index: number) =>
    `{"apiVersion":"v1","kind":"K","name":"n","uid":"${index}","controller":true,"blockOwnerDeletion":true}`

  // threat: gateway-11
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

  // threat: gateway-13
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

  // threat: gateway-14
  test('no object is too large to disable and delete', async () => {
    const type = { 'content-type': 'application/merge-patch+json' }
    const outcomes: [size: number, made: number, disabled: number, deleted: number, used: number][] = []
    // The last ones that fit are filled up by the labels and annotations below.
    for (const size of [240_000, 250_000]) {
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
  // threat: gateway-14
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
})

test('leaves everything of other users unchanged', () => victims.unharmed())
