/** Tests what a report of a leaked value ends: the value, what was made with it, and nothing that another key made. */
import { describe, expect, test } from 'vitest'
import type { UserInfo } from '../../lib/access/users/user.ts'
import { getCompanion } from '../../lib/engine/storage/readcompanions.ts'
import { credentialItemKey } from '../../lib/keys/credential/credential.ts'
import { rotateKey } from '../../lib/keys/ownedaccesskeyrotation.change.ts'
import { endValues } from '../../lib/server/leaks/endvalues.ts'
import { findValues } from '../../lib/server/leaks/findvalues.ts'
import { endless } from '../support/deadlines.ts'
import { createExchangedKey, newFederation, openGates } from '../support/exchangedkeys.ts'
import { useFunctions } from '../support/functions.ts'
import { admin, contextOf } from '../support/users.ts'
import { accessKeys, callsOf } from './stored/fixtures.ts'

const functions = useFunctions()
const { call, make, read, at } = callsOf(functions, accessKeys)

const LEAKED = 'access key value was reported as leaked'
const merge = { 'content-type': 'application/merge-patch+json' }

async function report(text: string): Promise<void> {
  const server = functions.get().parts
  const values = await findValues(server, [text])
  expect(values.size).toBe(1)
  const rest = { requestId: 'r', deadline: endless, note: () => {} }
  await endValues(server, { findings: [{ text }], values, ...rest })
}

/** Uses a value. Returns the user of the request, or why there is none. */
async function use(value: string): Promise<UserInfo | string> {
  const { parts } = functions.get()
  const found = await parts.authenticate(value)
  if (!('user' in found)) return 'dead' in found ? found.dead : 'unknown'
  const { ended } = await parts.admit(found, { isRecorded: true }, 'tokenReview')
  expect(ended).toBeUndefined()
  return { ...found.user, credential: found.credential }
}

async function allowed(value: string): Promise<UserInfo> {
  const user = await use(value)
  if (typeof user === 'string') throw new Error(user)
  return user
}

let count = 0
async function createKey(spec: object = {}) {
  const name = `leaked-${++count}`
  const { spec: made } = await make({ name }, { user: 'alice', ttl: 86_400, ...spec })
  return { name, first: String(made.key) }
}

async function rotate(name: string, user: UserInfo, overlapSeconds = 3600): Promise<string> {
  const { parts } = functions.get()
  const value = parts.keys.generate()
  const rotation = { value, isOwn: false, finish: false, replace: false, overlapSeconds }
  await rotateKey(parts, { name }, rotation, contextOf(user, { now: new Date() }))
  return value
}

const patch = (name: string, user: UserInfo, spec: object) =>
  call('patch', { parameters: at(name), user, headers: merge, body: { spec } })

async function itemOf(value: string) {
  const { parts } = functions.get()
  const [hash] = await parts.hashes(value)
  const { pk, sk } = credentialItemKey(hash ?? { version: '', hash: '' })
  return (await getCompanion(parts.storage, { pk, sk }))?.attributes
}

const isDisabled = async (name: string) => (await read(name)).spec.disabled === true

describe('a report ends what the reported value made', () => {
  const scope = { roles: [{ role: 'selfRotate' }] }

  // threat: leaks-3
  test('which is pending: nothing of the key works, and enabling it brings nothing back', async () => {
    const { name, first } = await createKey({ scope })
    const second = await rotate(name, await allowed(first))
    await report(first)
    expect(await isDisabled(name)).toBe(true)
    expect((await patch(name, admin, { disabled: false })).status).toBe(200)
    expect([await use(first), await use(second)]).toEqual([LEAKED, LEAKED])
  })

  // threat: leaks-3
  test('which is in use, while the reported value retires', async () => {
    const { name, first } = await createKey({ scope })
    const second = await rotate(name, await allowed(first))
    await allowed(second)
    await report(first)
    expect([await use(first), await use(second), await isDisabled(name)]).toEqual([LEAKED, LEAKED, true])
  })

  // threat: leaks-3, leaks-5
  test.each(['settled', 'not settled'])(
    'when that has ended, and is %s, and what came of it in turn',
    async (state) => {
      const { name, first } = await createKey()
      const second = await rotate(name, await allowed(first), 0)
      await allowed(second)
      const values = [first, second]
      if (state === 'settled') values.push(await rotate(name, await allowed(second), 60))
      await report(first)
      for (const value of values) expect(await use(value)).toBe(LEAKED)
      expect(await isDisabled(name)).toBe(true)
      expect(await itemOf(first)).not.toHaveProperty('expires')
    },
  )

  // threat: leaks-3
  test('as spec.key of the key, with the value or with a key that it made', async () => {
    const [own, child] = [await createKey(), await createKey()]
    const makers = [(await allowed(child.first)).key.uid]
    const put = `supplied-by-the-thief-${own.name}-0123456789`
    expect((await patch(own.name, await allowed(own.first), { key: put })).status).toBe(200)
    await report(own.first)
    expect([await use(own.first), await use(put), await isDisabled(own.name)]).toEqual([LEAKED, LEAKED, true])
    const second = await rotate(child.name, { ...admin, makers })
    await report(child.first)
    expect(await use(second)).toBe(LEAKED)
  })
})

describe('a report ends nothing that another key made', () => {
  // threat: leaks-4
  test('by a rotation before or after it, or as spec.key', async () => {
    const { name, first } = await createKey()
    const second = await rotate(name, admin, 60)
    await allowed(second)
    await report(first)
    expect([await use(first), await isDisabled(name)]).toEqual([LEAKED, false])
    await report(second)
    const third = await rotate(name, admin, 60)
    await patch(name, admin, { disabled: false })
    await allowed(third)
    const key = `supplied-by-the-owner-${name}-0123456789`
    expect((await patch(name, admin, { key })).status).toBe(200)
    for (const value of [first, second, third]) await report(value)
    expect([await use(third), await isDisabled(name)]).toEqual([LEAKED, false])
    await allowed(key)
  })

  // threat: leaks-4
  test('and nothing at all by a value that ended unused', async () => {
    const { name, first } = await createKey()
    const second = await rotate(name, await allowed(first), 60)
    await rotateFinish(name)
    await report(second)
    await allowed(first)
  })

  const rotateFinish = (name: string) =>
    rotateKey(
      functions.get().parts,
      { name },
      { value: '', isOwn: false, finish: true, replace: false, overlapSeconds: 0 },
      contextOf(admin, { now: new Date() }),
    )
})

// threat: leaks-5
test.each([[[]], [['example.com/keep']]])(
  'a reported value of an exchange with finalizers %j is never free again',
  async (finalizers) => {
    const { parts } = functions.get()
    const federation = newFederation()
    await openGates(parts, federation)
    const { name, token } = await createExchangedKey(parts, federation)
    const change = (body: object) => call('patch', { parameters: at(name), headers: merge, body: { metadata: body } })
    if (finalizers.length > 0) expect((await change({ finalizers })).status).toBe(200)
    await report(token)
    if (finalizers.length > 0) expect((await change({ finalizers: [] })).status).toBe(200)
    expect((await call('get', { parameters: at(name) })).status).toBe(404)
    expect(await use(token)).toBe(LEAKED)
    expect(await itemOf(token)).toMatchObject({ ended: 'leaked', name })
    expect(await itemOf(token)).not.toHaveProperty('expires')
    const answer = await call('create', { body: { metadata: { name: `again-${name}` }, spec: { key: token } } })
    expect([answer.status, answer.json.details?.causes?.[0]?.field]).toEqual([422, 'spec.key'])
    await report(token)
  },
)
