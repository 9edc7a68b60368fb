/**
 * Tests reports of leaked keys against the whole API: what ends for a value in each state, while it is used and while its key
 * is changed, and where reported values go.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Stored } from '../../lib/engine/storage/interface.ts'
import { getCompanion } from '../../lib/engine/storage/readcompanions.ts'
import { generateAccessKey } from '../../lib/keys/credential/accesskey.ts'
import { credentialItemKey } from '../../lib/keys/credential/credential.ts'
import { decodeKeyInternal } from '../../lib/keys/credential/keyinternal.ts'
import { keyData } from '../../lib/keys/events/keydata.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import { createExchangedKey, newFederation, openGates } from '../support/exchangedkeys.ts'
import { leakSignals } from '../support/leaksignals.ts'
import { keys, management } from '../support/objects.ts'
import { messageOf } from '../support/refusals.ts'
import type { Answer } from '../support/request.ts'
import { publishEvents, useServer } from '../support/sharedserver.ts'

const server = useServer()

const newValue = () => generateAccessKey(randomBytes)

type Made = Awaited<ReturnType<typeof makeKey>>

async function makeKey(spec?: object, metadata?: object) {
  const { token: value, ...key } = await server.makeKey({ user: 'alice', ...spec }, metadata)
  return { ...key, value }
}

const report = (body: unknown, path = '/leaks', headers: Record<string, string> = {}): Promise<Answer> =>
  server.call(path, { method: 'POST', token: '', body, headers })
const reportValue = async (value: string, url?: string) => {
  const { status, text, headers } = await report({ credentials: [value], url })
  return { status, text, type: headers['content-type'], warning: headers.warning }
}
/** The answer to every report. API Gateway adds the type. */
const accepted = { status: 202, text: '', type: 'application/json', warning: undefined }

/** Sends a request with a value, and returns the status and the reason of a refusal. */
async function use(value: string): Promise<[number, string?]> {
  const { status, json } = await server.post(`${management}/selves`, {}, value)
  return status === 201 ? [status] : [status, json.message]
}
const leaked: [number, string] = [401, 'access key value was reported as leaked']

const patch = (name: string, spec: object, token = server.adminKey) => server.patch(`${keys}/${name}`, { spec }, token)

const read = async (name: string) => (await server.call(`${keys}/${name}`)).json

const storedOf = (name: string) => server.parts.storage.get(OwnedAccessKey.table, name)

async function internalOf(name: string) {
  const stored = await storedOf(name)
  if (!stored) throw new Error(`${name} is gone`)
  return decodeKeyInternal(stored.internal)
}

async function hashOf(value: string) {
  const [hash] = await server.parts.hashes(value)
  if (!hash) throw new Error('there is no pepper')
  return hash
}

/** Rotates a key: returns its pending value. */
async function rotate({ name }: Made, overlapSeconds = 3600): Promise<string> {
  const { json } = await server.post(`${keys}/${name}/rotate`, { spec: { overlapSeconds } })
  return json.status.key
}

/** Returns what changes with every write of a key: the revision, and the item of a value. */
async function stateOf({ name, value }: Made) {
  const { storage } = server.parts
  const { pk, sk } = credentialItemKey(await hashOf(value))
  return [(await storage.get(OwnedAccessKey.table, name))?.rv, await getCompanion(storage, { pk, sk })]
}

describe('a report of', () => {
  test('the current value disables the key and ends the value, its tokens and its retiring value', async () => {
    const made = await makeKey()
    const next = await rotate(made)
    expect(await use(made.value)).toEqual([201])
    expect(await use(next)).toEqual([201])
    expect(await use(made.value)).toEqual([201])
    const before = Math.floor(Date.now() / 1000)
    expect(await reportValue(next, 'https://alice:secret@git.example.com/a?b=c#L1')).toEqual(accepted)
    expect(await use(next)).toEqual(leaked)
    expect(await use(made.value)).toEqual(leaked)
    const { spec, status } = await read(made.name)
    expect([spec.disabled, status.phase]).toEqual([true, 'Leaked'])
    expect(status.leak).toEqual({ reported: expect.any(String), url: 'https://git.example.com/a#L1' })
    const { retiring, tokensNotBefore = 0 } = await internalOf(made.name)
    expect(retiring).toBeUndefined()
    expect(tokensNotBefore - before).toBeGreaterThanOrEqual(30)
    expect(await leakSignals(server, made.uid)).toEqual([
      expect.objectContaining({ name: made.name, value: 2, url: 'https://git.example.com/a#L1' }),
    ])
  })

  test('an unused new value ends this value only, and the tokens', async () => {
    const made = await makeKey()
    const next = await rotate(made)
    expect(await reportValue(next)).toEqual(accepted)
    expect(await use(next)).toEqual(leaked)
    expect(await use(made.value)).toEqual([201])
    const { ended, pending, tokensNotBefore } = await internalOf(made.name)
    expect([ended, pending, tokensNotBefore]).toEqual([undefined, undefined, expect.any(Number)])
    expect((await read(made.name)).spec.disabled).toBeUndefined()
  })

  test('a retiring value ends this value only, and the tokens, if another key made the new one', async () => {
    const made = await makeKey()
    const next = await rotate(made)
    expect(await use(next)).toEqual([201])
    expect(await use(made.value)).toEqual([201])
    expect(await reportValue(made.value)).toEqual(accepted)
    expect(await use(made.value)).toEqual(leaked)
    expect(await use(next)).toEqual([201])
    const { ended, retiring, tokensNotBefore } = await internalOf(made.name)
    expect([ended, retiring, tokensNotBefore]).toEqual([undefined, undefined, expect.any(Number)])
  })

  // threat: leaks-9
  test('the current value leaves an unused new one of another key, which works once the key is enabled, with a warning', async () => {
    const made = await makeKey()
    const next = await rotate(made)
    expect(await reportValue(made.value)).toEqual(accepted)
    expect(await use(next)).toEqual([401, 'access key is disabled'])
    const { status, headers } = await patch(made.name, { disabled: false })
    expect([status, headers.warning]).toEqual([
      200,
      `299 - "the value of access key \\"${made.name}\\" was reported as leaked, and its pending value is older than the report: replace it unless you know who made it"`,
    ])
    expect(await use(made.value)).toEqual(leaked)
    expect(await use(next)).toEqual([201])
  })

  // threat: leaks-8
  test('the current value shows the key as leaked until its next value is used, also when it is enabled', async () => {
    const made = await makeKey()
    const shown = async () => {
      const { phase, leak, values } = (await read(made.name)).status
      return [phase, leak !== undefined, values?.map(({ state }: { state: string }) => state)]
    }
    expect(await reportValue(made.value)).toEqual(accepted)
    await patch(made.name, { disabled: false })
    expect(await shown()).toEqual(['Leaked', true, []])
    const next = await rotate(made)
    expect(await shown()).toEqual(['Leaked', true, ['Pending']])
    expect(await use(next)).toEqual([201])
    expect(await shown()).toEqual(['Active', false, ['Current']])
    await patch(made.name, { disabled: true })
    expect(await shown()).toEqual(['Disabled', false, ['Current']])
  })

  test('a value that has ended ends only the tokens from before its end, once', async () => {
    const made = await makeKey()
    const value = await rotate(made, 0)
    expect(await use(value)).toEqual([201])
    expect((await patch(made.name, { description: 'settled' })).status).toBe(200)
    const ended = await use(made.value)
    expect(ended).toEqual([401, 'access key value was rotated'])
    expect((await internalOf(made.name)).tokensNotBefore).toBeUndefined()
    const { pk, sk } = credentialItemKey(await hashOf(made.value))
    const tombstone = await getCompanion(server.parts.storage, { pk, sk })
    expect(await reportValue(made.value)).toEqual(accepted)
    expect((await internalOf(made.name)).tokensNotBefore).toBe(Number(tombstone?.attributes.at) + 30)
    expect((await read(made.name)).spec.disabled).toBeUndefined()
    expect([await use(made.value), await use(value)]).toEqual([leaked, [201]])
    expect(await leakSignals(server, made.uid)).toHaveLength(1)
    expect(auditOf('leaks')).toMatchObject({ count: 1, leakedKeys: 1 })
    const before = [await stateOf(made), await stateOf({ ...made, value })]
    expect(await reportValue(made.value)).toEqual(accepted)
    expect([await stateOf(made), await stateOf({ ...made, value })]).toEqual(before)
    expect(auditOf('leaks')).toMatchObject({ count: 0, leakedKeys: 0 })
  })

  test('the key with which a cluster asks has an alarm of its own, and its event says so', async () => {
    const scope = { roles: [{ role: 'agent' }], clusters: [{ cluster: 'eu' }] }
    const [agent, other] = [await makeKey({ scope }), await makeKey()]
    const { status } = await report({ credentials: [agent.value, other.value] })
    expect([status, auditOf('leaks')]).toEqual([
      202,
      expect.objectContaining({ count: 2, leakedKeys: 2, reviewers: [agent.name], leakedReviewKeys: 1 }),
    ])
    const kept = keyData((await storedOf(agent.name)) as Stored, 0, {})
    expect([kept.mayReview, keyData((await storedOf(other.name)) as Stored, 0, {}).mayReview]).toEqual([
      true,
      undefined,
    ])
    await reportValue(agent.value)
    expect(auditOf('leaks')).not.toHaveProperty('leakedReviewKeys')
  })

  test.each<[string, object, object]>([
    ['disabled', { disabled: true }, {}],
    ['expired', { ttl: 1 }, {}],
    ['kept by a finalizer', {}, { finalizers: ['example.com/keep'] }],
  ])('the value of a key that is %s ends it too', async (state, spec, metadata) => {
    const made = await makeKey(spec, metadata)
    if (state === 'expired') await expect.poll(async () => (await use(made.value))[0]).toBe(401)
    if (state.startsWith('kept')) await server.call(`${keys}/${made.name}`, { method: 'DELETE' })
    expect(await reportValue(made.value)).toEqual(accepted)
    expect(await use(made.value)).toEqual(leaked)
    const { phase, leak } = (await read(made.name)).status
    expect([phase, leak]).toEqual([
      state.startsWith('kept') ? 'Terminating' : 'Leaked',
      { reported: expect.any(String) },
    ])
    expect(await leakSignals(server, made.uid)).toHaveLength(1)
  })

  test('an exchanged key deletes it', async () => {
    const federation = newFederation()
    await openGates(server.parts, federation)
    const { name, token } = await createExchangedKey(server.parts, federation)
    const { uid } = (await read(name)).metadata
    expect(await use(token)).toEqual([201])
    expect(await reportValue(token)).toEqual(accepted)
    expect((await use(token))[0]).toBe(401)
    expect((await server.call(`${keys}/${name}`)).status).toBe(404)
    expect(await leakSignals(server, uid)).toHaveLength(1)
    expect(await reportValue(token)).toEqual(accepted)
  })

  test('a supplied value, under any pepper, ends it', async () => {
    const value = `brought-along-${randomBytes(16).toString('hex')}`
    const made = await makeKey({ key: value })
    expect(await reportValue(value)).toEqual(accepted)
    expect(await use(value)).toEqual(leaked)
    expect((await read(made.name)).spec.disabled).toBe(true)
  })

  // threat: leaks-2
  test('a deleted or unknown key gets the same answer', async () => {
    const made = await makeKey()
    await server.call(`${keys}/${made.name}`, { method: 'DELETE' })
    for (const value of [made.value, newValue(), 'unknown-to-everybody-everywhere-0123456789', 'nonsense', ''])
      expect([value, await reportValue(value)]).toEqual([value, accepted])
    expect(await leakSignals(server, made.uid)).toEqual([])
  })

  test('many values ends each, whatever else the report has', async () => {
    const made = await Array.fromAsync({ length: 20 }, () => makeKey())
    const credentials = [...made.map(({ value }) => value), ...made.map(({ value }) => value), newValue(), 'x', '']
    expect((await report({ credentials })).status).toBe(202)
    for (const { value } of made) expect(await use(value)).toEqual(leaked)
    const record = auditOf('leaks')
    expect(record).toMatchObject({ reported: 21, count: 20, decision: 'allow', reason: 'reported' })
    expect(record.names).toHaveLength(16)
    expect(record.leakedKeys).toBe(20)
  })
})

/** Returns the last audit record of a resource. */
const auditOf = (resource: string) =>
  server.log
    .join('')
    .split('\n')
    .filter((line) => line.includes('"message":"audit"') && line.includes(`"resource":"${resource}"`))
    .map((line) => JSON.parse(line))
    .at(-1)

// threat: leaks-1
test('a repeated report writes nothing', async () => {
  const made = await makeKey()
  await reportValue(made.value)
  await reportValue(made.value)
  const before = await stateOf(made)
  const { storageCalls } = auditOf('leaks')
  for (let repeat = 0; repeat < 5; repeat++) expect(await reportValue(made.value)).toEqual(accepted)
  expect(await stateOf(made)).toEqual(before)
  expect([storageCalls, auditOf('leaks').storageCalls]).toEqual([2, 1])
  expect(auditOf('leaks')).toMatchObject({ reported: 1, count: 0, leakedKeys: 0 })
})

// threat: leaks-1, leaks-6
test('a flood of texts that are not keys reads nothing, and one of unknown keys writes nothing', async () => {
  /** The items of keys, of their values and of signals. Controllers write others meanwhile. */
  const scan = async () => {
    const ids = new Set<string>()
    for (const { pk, sk } of await server.store.all())
      if (/^(credential#|ownedaccesskeys#o|signal#)/.test(pk)) ids.add(`${pk} ${sk}`)
    return ids
  }
  const before = await scan()
  const none = Array.from({ length: 4000 }, () => newValue().slice(0, -1))
  expect((await report({ credentials: none })).status).toBe(202)
  expect(auditOf('leaks')).toMatchObject({ reported: 0, storageCalls: 0 })
  for (let round = 0; round < 10; round++) {
    const { status } = await report({ credentials: Array.from({ length: 50 }, newValue) })
    expect([status, auditOf('leaks').storageCalls]).toEqual([202, 1])
  }
  expect([...(await scan())].filter((item) => !before.has(item))).toEqual([])
})

describe('a key whose current value was reported', () => {
  test('warns when it is enabled, and works again with another value only', async () => {
    const made = await makeKey()
    await reportValue(made.value)
    const { status, headers } = await patch(made.name, { disabled: false })
    expect([status, headers.warning]).toEqual([
      200,
      `299 - "the value of access key \\"${made.name}\\" was reported as leaked and gives no access: rotate the key"`,
    ])
    expect(await use(made.value)).toEqual(leaked)
    expect((await patch(made.name, { key: made.value })).status).toBe(422)
    expect(await use(made.value)).toEqual(leaked)
    const value = newValue()
    expect((await patch(made.name, { key: value })).status).toBe(200)
    expect(await use(value)).toEqual([201])
    expect(await use(made.value)).toEqual(leaked)
  })
})

describe('a value that is in use while it is reported', () => {
  // threat: leaks-7
  test('gives no access to any request that begins after the 202', async () => {
    for (let round = 0; round < 5; round++) {
      const made = await makeKey()
      let isReported = false
      const late: number[] = []
      const loop = async () => {
        while (true) {
          const isLate = isReported
          const [status] = await use(made.value)
          if (isLate) late.push(status)
          if (late.length >= 8) return
        }
      }
      const loops = [loop(), loop(), loop()]
      await setTimeout(20 * round)
      expect(await reportValue(made.value)).toEqual(accepted)
      isReported = true
      await Promise.all(loops)
      expect(late.length).toBeGreaterThanOrEqual(8)
      expect(new Set(late)).toEqual(new Set([401]))
    }
  })
})

describe('the endpoint', () => {
  test.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('answers %s with a 405', async (method) => {
    const { status, headers, json } = await server.call('/leaks', { method, token: '' })
    expect([status, headers.allow]).toEqual([405, 'POST'])
    if (method !== 'HEAD') expect(json).toMatchObject({ kind: 'Status', code: 405, reason: 'MethodNotAllowed' })
  })

  test.each<[string, number, string, Record<string, string>?]>([
    ['nothing', 400, ''],
    ['no JSON', 400, '{"credentials":['],
    ['a member twice', 400, '{"credentials":["CANARY"],"credentials":["CANARY"]}'],
    ['a nested member twice', 400, '{"a":{"k":["CANARY"],"k":["CANARY"]}}'],
    ['a prototype', 400, '{"__proto__":{"credentials":["CANARY"]}}'],
    ['endless depth', 400, `${'['.repeat(100_000)}"CANARY"`],
    ['too many values', 400, `{"credentials":["CANARY"${',""'.repeat(20_001)}]}`],
    ['another form', 400, '{"credentials":"CANARY"}'],
    ['more than 256 KiB', 413, `{"credentials":["CANARY${' '.repeat(262_144)}"]}`],
    ['a form', 415, 'credentials=CANARY', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['YAML', 415, 'credentials: [CANARY]', { 'content-type': 'application/yaml' }],
    ['a compressed body', 400, '{"credentials":["CANARY"]}', { 'content-encoding': 'gzip' }],
  ])('refuses %s, and quotes nothing', async (_, code, body, headers = { 'content-type': 'application/json' }) => {
    const canary = newValue()
    const answer = await report(body.replaceAll('CANARY', canary), '/leaks', headers)
    expect([answer.status, answer.json?.code]).toEqual([code, code])
    expect(answer.text).not.toContain(canary.slice(0, 12))
    expect(auditOf('leaks')).toMatchObject({ code, reason: 'malformed', decision: 'deny' })
  })

  // threat: leaks-1
  test('refuses more than 50 keys, and credentials in the URL', async () => {
    const credentials = Array.from({ length: 51 }, newValue)
    expect(messageOf(await report({ credentials }))).toEqual([413, 'Request entity too large: limit is 50 credentials'])
    expect(auditOf('leaks')).toMatchObject({ reported: 51, storageCalls: 0 })
    expect((await report({ credentials: [] }, `/leaks?credentials=${credentials[0]}`)).status).toBe(400)
  })
})

// threat: leaks-10
test('reported values are in no log, event, item or answer', async () => {
  const values: string[] = []
  const uids: string[] = []
  const heard: string[] = []
  const hear = async (answer: Promise<Answer>) => heard.push(JSON.stringify(await answer))
  for (const supplied of [undefined, `brought-along-${randomBytes(16).toString('hex')}`]) {
    const made = await makeKey(supplied === undefined ? {} : { key: supplied })
    const { value } = made
    values.push(value)
    uids.push(made.uid)
    const url = `https://${value}@git.example.com/${value}?${value}#${encodeURIComponent(value)}`
    await hear(report({ credentials: [value], url }))
    await hear(report({ credentials: [value, value], [value]: value, url }))
    await hear(report([{ token: value, type: value, url, source: value }]))
    await hear(report({ [value]: { [value]: [value] } }))
    // A supplied value cannot be recognized where no credential belongs.
    if (supplied !== undefined) continue
    await hear(report({ credentials: [value] }, '/leaks', { 'user-agent': value }))
    await hear(server.post(`/leaks/${value}`, {}, value))
  }
  const leaksOf = (uid: string) =>
    server.services.published
      .map((text) => JSON.parse(text))
      .filter(({ type, data }) => type === 'platform.management.accesskey.leaked.v1' && data.uid === uid)
  await publishEvents()
  for (const uid of uids) {
    expect(leaksOf(uid)).toHaveLength(1)
    expect(leaksOf(uid)[0].data.url).toBe('https://git.example.com')
  }
  const items = await server.store.all()
  const everything = [...heard, ...server.services.published, server.log.join(''), JSON.stringify(items)].join('\n')
  for (const value of values) {
    expect(everything).not.toContain(value)
    expect(everything).not.toContain(Buffer.from(value).toString('base64').slice(0, 24))
  }
})
