import { describe, expect, test } from 'vitest'
import type { UserInfo } from '../../../lib/access/users/user.ts'
import { lookUp } from '../../../lib/keys/accesskeylookup.find.ts'
import type { Services } from '../../../lib/keys/services.ts'
import { useFunctions } from '../../support/functions.ts'
import { accessKey } from '../../support/objects.ts'
import { admin, alice, bob, contextOf, withScopes } from '../../support/users.ts'
import { describeVirtual } from '../virtual/create.ts'

const functions = useFunctions()
const unknown = 'u'.repeat(40)

const createKey = async (name: string, spec: object = {}): Promise<string> =>
  (await functions.invoke('ownedaccesskeys/create', { body: accessKey(name, { user: 'alice', ...spec }) })).json.spec
    .key
const ask = (user: UserInfo, body: object) =>
  functions.invoke('accesskeylookups/create', { user, headers: { accept: 'application/json' }, body })

describeVirtual(functions, {
  name: 'accesskeylookups/create',
  apiVersion: 'management.platform/v1',
  kind: 'AccessKeyLookup',
  spec: { key: unknown },
})

describe('201', () => {
  // threat: lookups-3
  test('returns nothing that the client sent, where it may repeat the value', async () => {
    const value = await createKey('sent')
    const metadata = { name: value, labels: { a: value }, annotations: { a: JSON.stringify({ spec: { key: value } }) } }
    const { status, json, text } = await ask(alice, { metadata, spec: { key: value } })
    expect([status, Object.keys(json).sort()]).toEqual([201, ['apiVersion', 'kind', 'metadata', 'status']])
    expect([Object.keys(json.metadata), json.status.name]).toEqual([['creationTimestamp'], 'sent'])
    expect([text.includes(value), functions.get().log.join('').includes(value)]).toEqual([false, false])
  })

  // An answer that took longer would tell strangers which values exist.
  // threat: lookups-1
  test('costs the same two reads for a value that is unknown, hidden, ended or out of scope', async () => {
    const value = await createKey('hidden')
    await createKey('rotated')
    const rotate = (spec: object) =>
      functions.invoke('ownedaccesskeys/rotate', { parameters: { name: 'rotated' }, body: { spec } })
    const ended: string = (await rotate({})).json.status.key
    await rotate({ replace: true })
    const narrow = withScopes(admin, { rules: [{ resources: [{ resources: ['pods'] }] }] })
    const read = async (user: UserInfo, asked: string) => {
      const calls: string[] = []
      const status = await lookUp(asked, contextOf(user), counted(functions.get().parts, calls))
      return [status, calls]
    }
    const nothing = [{}, ['readCredentials', 'get']]
    for (const asked of [unknown, value, ended]) expect(await read(bob, asked)).toEqual(nothing)
    expect(await read(narrow, value)).toEqual(nothing)
    expect(await read(alice, value)).toEqual([expect.objectContaining({ name: 'hidden' }), nothing[1]])
    expect(await read(alice, ended)).toEqual([expect.objectContaining({ phase: 'Ended' }), nothing[1]])
  })
})

/** Returns the services with a record of their reads. They have no others. */
function counted({ keys, keyStore, scopes }: Services, calls: string[]): Services {
  const store = keyStore()
  const { get } = store.storage
  const storage = { get: (...asked: Parameters<typeof get>) => calls.push('get') && get(...asked) }
  const { hashes, readCredentials, limits } = keys
  return {
    scopes,
    used: async () => {},
    keyStore: () => ({ ...store, storage }),
    keys: {
      hashes,
      limits,
      readCredentials: (asked: Parameters<typeof readCredentials>[0]) =>
        calls.push('readCredentials') && readCredentials(asked),
    },
  } as unknown as Services
}

describe('422', () => {
  // threat: lookups-3
  test.each([
    undefined,
    '',
    'short',
    'x'.repeat(513),
    `mpk_${'0'.repeat(49)}`,
    `mpk_${'a'.repeat(30)}`,
    'with a space'.repeat(4),
    `${'a'.repeat(20)}.${'b'.repeat(20)}.${'c'.repeat(20)}`,
    'ü'.repeat(40),
  ])('for %j, which is not shown', async (key) => {
    const { status, json, text } = await ask(alice, { spec: key === undefined ? {} : { key } })
    expect([status, json.details.causes.map(({ field }: { field: string }) => field)]).toEqual([422, ['spec.key']])
    if (key) expect(text).not.toContain(key)
  })

  test.each([12345678, ['secret-value'], { value: 'secret-value' }, true])('for %j', async (key) => {
    const { status, text } = await ask(alice, { spec: { key } })
    expect([status, /secret-value|12345678/.test(text)]).toEqual([422, false])
  })
})
