/** Tests rotations of access keys through the whole API: what they answer, and which value works when. */
import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { generateAccessKey } from '../../lib/keys/credential/accesskey.ts'
import { createExchangedKey, newFederation, openGates } from '../support/exchangedkeys.ts'
import { keys } from '../support/objects.ts'
import { saying } from '../support/refusals.ts'
import type { Answer } from '../support/request.ts'
import { rotatingOn } from '../support/rotation.ts'
import { useServer } from '../support/sharedserver.ts'

const server = useServer()

const { rotate, use, age, values } = rotatingOn(() => server)

const ROTATED = [401, 'access key value was rotated']
const WORKS = [201, undefined]

/** Creates a key of alice and returns its name and its value. */
async function createKey(spec: object = {}, metadata?: object) {
  const { token: old, ...key } = await server.makeKey({ user: 'alice', ...spec }, metadata)
  return { ...key, old }
}

/** Starts a rotation and returns the new value as well. */
async function createRotated(spec: object = {}) {
  const key = await createKey()
  const { status, json } = await rotate(key.name, spec)
  expect(status).toBe(201)
  return { ...key, next: json.status.key as string }
}

const refusal = ({ status, json }: Answer): [number, string] => [status, json.message]
const own = (text: string) => `own-value-of-${text}`.padEnd(40, '.')
const merge = (name: string, spec: object, { token }: { token?: string } = {}) =>
  server.patch(`${keys}/${name}`, { spec }, token)

describe('the status of a key', () => {
  test('shows the values with their states in gets, lists and watches', async () => {
    const { name, old } = await createKey()
    expect(await values(name)).toBeUndefined()
    await use(old)
    const { json } = await rotate(name, { overlapSeconds: 600 })
    const next: string = json.status.key
    const hint = next.slice(-6)
    const made = expect.stringMatching(/Z$/)
    const first = old.slice(-6)
    expect(await values(name)).toEqual([
      { state: 'Current', hint: first, made, lastActivity: made },
      { state: 'Pending', hint, made },
    ])
    await use(next)
    const during = [
      { state: 'Current', hint, made, lastActivity: made },
      { state: 'Retiring', hint: first, made, lastActivity: made, until: made },
    ]
    expect(await values(name)).toEqual(during)
    const selector = `fieldSelector=metadata.name%3D${name}`
    const listed = (await server.call(`${keys}?${selector}`)).json.items
    expect(listed.map(({ status }: Answer['json']) => status.values)).toEqual([during])
    const watched = await server.call(`${keys}?watch=true&timeoutSeconds=1&${selector}`)
    expect(JSON.parse(watched.text.split('\n')[0] ?? '').object.status).toMatchObject({
      values: during,
      lastRotation: made,
    })
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const table = (await server.call(`${keys}/${name}`, { headers: { accept } })).json
    const column = table.columnDefinitions.findIndex(({ name }: { name: string }) => name === 'Rotated')
    expect(table.rows[0].cells[column]).toMatch(/^\d+s$/)
    const [current, retiring] = await values(name)
    const overlap = Date.parse(retiring?.until ?? '') - Date.parse(current?.lastActivity ?? '')
    expect(overlap).toBe(600_000)
  })
})

describe('a field selector for the end of a value', () => {
  test('finds the key by each value that works or is pending, and by no other', async () => {
    const { name, old } = await createKey()
    const never = await createKey()
    const foundBy = async (value: string, method = 'GET') => {
      const { json } = await server.call(`${keys}?fieldSelector=status.hint%3D${value.slice(-6)}`, { method })
      return json.items.map(({ metadata }: Answer['json']) => metadata.name)
    }
    const next: string = (await rotate(name, { overlapSeconds: 600 })).json.status.key
    // The second value is pending, and then the current one beside the first.
    for (const last of [old, next]) {
      await use(last)
      expect([await foundBy(old), await foundBy(next), await foundBy(never.old)]).toEqual([
        [name],
        [name],
        [never.name],
      ])
    }
    const others = await server.call(`${keys}?fieldSelector=status.hint!%3D${next.slice(-6)}&limit=500`)
    expect(others.json.items.map(({ metadata }: Answer['json']) => metadata.name)).not.toContain(name)
    expect([await foundBy(old, 'DELETE'), await foundBy(next), await foundBy(never.old)]).toEqual([
      [name],
      [],
      [never.name],
    ])
    const supplied = await createKey({ key: own(name) })
    expect(await foundBy('')).toContain(supplied.name)
    expect(await foundBy('')).not.toContain(name)
    const short = await createKey()
    const second: string = (await rotate(short.name, { overlapSeconds: 0 })).json.status.key
    await use(second)
    const third: string = (await rotate(short.name)).json.status.key
    const found = [await foundBy(short.old), await foundBy(second), await foundBy(third)]
    expect(found).toEqual([[], [short.name], [short.name]])
  })

  test('shows a watch when a value begins to be one of the key', async () => {
    const { name } = await createKey()
    const key = generateAccessKey(randomBytes)
    const { resourceVersion } = (await server.call(`${keys}?limit=1`)).json.metadata
    await rotate(name, { key })
    const watched = await server.call(
      `${keys}?watch=true&timeoutSeconds=1&resourceVersion=${resourceVersion}&fieldSelector=status.hint%3D${key.slice(-6)}`,
    )
    const events = watched.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events.map(({ type, object }) => [type, object.metadata.name])).toEqual([['ADDED', name]])
  })
})

describe('201', () => {
  // threat: rotation-23
  test('has the new value, its hint and the phase once', async () => {
    const { name, uid } = await createKey()
    const { status, json, headers } = await rotate(name)
    expect([status, headers.warning]).toEqual([201, undefined])
    expect(json).toMatchObject({
      apiVersion: 'management.platform/v1',
      kind: 'OwnedAccessKeyRotation',
      metadata: { name, uid },
      status: { key: expect.stringMatching(/^mpk_\w{49}$/), phase: 'Pending', requestedAt: expect.any(String) },
    })
    expect(json.status.hint).toBe(json.status.key.slice(-6))
    expect((await server.call(`${keys}/${name}`)).text).not.toContain(json.status.key)
  })

  test('for the pending value again changes nothing, so that a lost response can be repeated', async () => {
    const { name } = await createKey()
    const key = own(name)
    const first = await rotate(name, { key })
    const { resourceVersion } = (await server.call(`${keys}/${name}`)).json.metadata
    const again = await rotate(name, { key, replace: true })
    expect([again.status, again.json.status]).toEqual([201, first.json.status])
    expect(first.json).toMatchObject({ spec: {}, status: { key, phase: 'Pending' } })
    expect(first.json.status).not.toHaveProperty('hint')
    expect((await server.call(`${keys}/${name}`)).json.metadata.resourceVersion).toBe(resourceVersion)
    expect(await use(key)).toEqual(WORKS)
  })

  test('of a dry run has everything but the value, and changes nothing', async () => {
    const { name, old } = await createKey()
    const before = (await server.call(`${keys}/${name}`)).text
    const dryRun = { query: '?dryRun=All' }
    const { status, json } = await rotate(name, { key: own(name) }, dryRun)
    expect([status, json.status]).toEqual([201, { phase: 'Pending', requestedAt: expect.any(String) }])
    expect((await rotate(name, {}, { ...dryRun, metadata: { uid: 'other' } })).status).toBe(409)
    expect((await server.call(`${keys}/${name}`)).text).toBe(before)
    expect([await use(old), (await use(own(name)))[0]]).toEqual([WORKS, 401])
  })

  test('for replace ends the pending value', async () => {
    const { name, old, next } = await createRotated()
    const { status, json } = await rotate(name, { replace: true })
    expect(status).toBe(201)
    expect(await use(next)).toEqual([401, 'access key value was replaced'])
    expect([await use(old), await use(json.status.key)]).toEqual([WORKS, WORKS])
  })

  test('for finish ends a pending value that was not used', async () => {
    const { name, old, next } = await createRotated()
    const { status, json } = await rotate(name, { finish: true })
    expect([status, json.status]).toEqual([201, { phase: 'Finished', requestedAt: expect.any(String) }])
    expect([await use(next), await use(old)]).toEqual([ROTATED, WORKS])
    expect((await rotate(name, { finish: true })).status).toBe(201)
    expect((await rotate(name)).status).toBe(201)
  })

  test('for a disabled key has a warning, and the new value works once the key is enabled', async () => {
    const { name } = await createKey({ disabled: true })
    const { status, headers, json } = await rotate(name)
    expect(status).toBe(201)
    expect(headers.warning).toBe(`299 - "access key \\"${name}\\" is disabled: no value works until it is enabled"`)
    expect(await use(json.status.key)).toEqual([401, 'access key is disabled'])
    await merge(name, { disabled: false })
    expect(await use(json.status.key)).toEqual(WORKS)
  })

  // threat: rotation-23
  test('is recorded as the issue of an access key, without its value', async () => {
    const { name, next, uid } = await createRotated()
    const records = server.log.filter((line) => line.includes(`"name":"${name}"`)).map((line) => JSON.parse(line))
    expect(records.at(-1)).toMatchObject({
      verb: 'create',
      resource: 'ownedaccesskeys',
      subresource: 'rotate',
      name,
      uid,
      credential: 'access key',
      code: 201,
    })
    expect(server.log.join('')).not.toContain(next)
  })
})

describe('403', () => {
  test('for the key of an exchange, which expires with its ID token', async () => {
    const federation = newFederation()
    await openGates(server.parts, federation)
    const { name, token } = await createExchangedKey(server.parts, federation)
    const why = 'an access key that comes from an exchanged ID token can only be disabled or deleted'
    for (const call of [{}, { token }])
      expect(refusal(await rotate(name, {}, call))).toEqual([403, expect.stringContaining(why)])
  })
})

describe('404', () => {
  test('for a key that does not exist, and for one of somebody else', async () => {
    const { old } = await createKey()
    const { name } = await createKey({ user: 'bob' })
    const [hidden, missing] = [await rotate(name, {}, { token: old }), await rotate('none', {}, { token: old })]
    expect([hidden.status, missing.status]).toEqual([404, 404])
    expect(hidden.text.replaceAll(name, 'none')).toBe(missing.text)
  })
})

describe('409', () => {
  test('while a value is pending', async () => {
    const { name } = await createRotated()
    expect(refusal(await rotate(name))).toEqual(saying(409, /a value has been pending since \S+Z: use it, or set/))
  })

  test('during an overlap, with the time when it ends', async () => {
    const { name, next } = await createRotated({ overlapSeconds: 600 })
    await use(next)
    const [, retiring] = await values(name)
    for (const call of [{}, { token: next }])
      expect(refusal(await rotate(name, { replace: true }, call))).toEqual(
        saying(409, `the previous value works until ${retiring?.until}: `),
      )
    await age(next, 'firstUsed', 601)
    expect((await rotate(name, {}, { token: next })).status).toBe(201)
  })

  // threat: rotation-10
  test('for the retiring value itself, which may not end the new one either', async () => {
    const { name, old, next } = await createRotated({ overlapSeconds: 600 })
    await use(next)
    for (const spec of [{}, { replace: true }, { finish: true }])
      expect(refusal(await rotate(name, spec, { token: old }))).toEqual(
        saying(409, 'only the new one may rotate the access key'),
      )
    expect((await merge(name, { key: own(name) }, { token: old })).status).toBe(409)
    expect(await use(next)).toEqual(WORKS)
  })

  test('for another uid, and for an earlier resourceVersion', async () => {
    const { name, uid } = await createKey()
    const { resourceVersion } = (await server.call(`${keys}/${name}`)).json.metadata
    expect((await rotate(name, {}, { metadata: { uid: 'other' } })).status).toBe(409)
    await merge(name, { description: 'changed' })
    expect(refusal(await rotate(name, {}, { metadata: { uid, resourceVersion } }))).toEqual(
      saying(409, 'the object has been modified'),
    )
    const now = (await server.call(`${keys}/${name}`)).json.metadata.resourceVersion
    expect((await rotate(name, {}, { metadata: { uid, resourceVersion: now } })).status).toBe(201)
  })

  test('for a key that is being deleted', async () => {
    const held = await createKey({}, { finalizers: ['example.com/hold'] })
    await server.call(`${keys}/${held.name}`, { method: 'DELETE' })
    expect(refusal(await rotate(held.name))).toEqual([409, expect.stringContaining('is being deleted')])
  })
})

describe('422', () => {
  test.each<[string, object, string]>([
    ['a negative overlap', { overlapSeconds: -1 }, 'spec.overlapSeconds'],
    ['an overlap of more than 30 days', { overlapSeconds: 2_592_001 }, 'spec.overlapSeconds'],
    ['a value that no key may have', { key: 'short' }, 'spec.key'],
    ['a value with a wrong checksum', { key: `mpk_${'0'.repeat(49)}` }, 'spec.key'],
    ['finish with an overlap', { finish: true, overlapSeconds: 5 }, 'spec.overlapSeconds'],
    ['finish with a value', { finish: true, key: own('finish') }, 'spec.key'],
    ['finish with replace', { finish: true, replace: true }, 'spec.replace'],
  ])('for %s', async (_, spec, field) => {
    const { name } = await createKey()
    const { status, json, text } = await rotate(name, spec)
    expect([status, json.details?.causes?.map(({ field }: { field: string }) => field)]).toEqual([422, [field]])
    if ('key' in spec) expect(text).not.toContain(spec.key)
  })

  test('for the name of another key', async () => {
    const { name } = await createKey()
    expect((await rotate(name, {}, { metadata: { name: 'other' } })).status).toBe(422)
  })
})

describe('two rotators', () => {
  // threat: rotation-2
  test.each(['in one order', 'in the other order'])('at once get one value, and the other a 409, %s', async (order) => {
    for (let round = 0; round < 4; round++) {
      const { name, old } = await createKey()
      const specs = [{}, { key: own(name) }]
      const answers = await Promise.all(
        (order === 'in one order' ? specs : specs.toReversed()).map((one) => rotate(name, one)),
      )
      expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409])
      const made = answers.find(({ status }) => status === 201)
      expect([await use(old), await use(made?.json.status.key)]).toEqual([WORKS, WORKS])
    }
  })
})
