/** What happens while a revocation runs: keys change, the time is up, the table fails, the function is killed. */
import { beforeAll, describe, expect, test } from 'vitest'
import type { UserInfo } from '../../lib/access/users/user.ts'
import { StatusError } from '../../lib/engine/meta/errors/status.ts'
import { StorageError } from '../../lib/engine/storage/errors.ts'
import type { Storage } from '../../lib/engine/storage/interface.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import type { Services } from '../../lib/keys/services.ts'
import { revokeKeys } from '../../lib/revocation/accesskeyrevocation.run.ts'
import type { RevocationSpec } from '../../lib/revocation/accesskeyrevocation.schema.ts'
import { keys } from '../support/objects.ts'
import { revokingOn } from '../support/revocations.ts'
import type { MadeKey } from '../support/server.ts'
import { useServer } from '../support/sharedserver.ts'
import { contextOf } from '../support/users.ts'

const server = useServer({ MAX_KEYS_PER_OWNER: '0' })
const { revoke, make, patch, isDisabled, use } = revokingOn(() => server)
let caller: MadeKey
beforeAll(async () => {
  caller = await make('caller', { user: 'root', groups: ['system:masters'] })
})

let counted = 0
/** Creates keys with a label of their own, and returns the spec that selects them. */
async function makeKeys(count: number): Promise<{ names: string[]; spec: RevocationSpec }> {
  const run = `race-${++counted}`
  const names = Array.from({ length: count }, (_, index) => `${run}-${String(index).padStart(3, '0')}`)
  for (const name of names) await make(name, {}, { labels: { run } })
  return { names, spec: { selector: { matchLabels: { run } } } }
}

type Update = Storage['update']

interface Race {
  token?: string
  /** Runs instead of a write of a key. `number` counts the writes. */
  update?(write: () => ReturnType<Update>, key: string, number: number): ReturnType<Update>
  /** Returns the milliseconds that are left after this many writes. */
  left?(written: number): number
}

/** Runs a revocation in this process, on the table of the server. */
async function run(
  spec: RevocationSpec,
  { token = caller.token, update = (write) => write(), left = () => 20_000 }: Race,
) {
  const { parts } = server
  const living = await parts.authenticate(token)
  if (!('user' in living)) throw new Error('the key of the test gives no access')
  const user: UserInfo = { ...living.user, credential: living.credential }
  let [begun, written] = [0, 0]
  const store = parts.keyStore()
  const storage: Storage = {
    ...store.storage,
    update: (table, key, mutate, options) => {
      const write = () => store.storage.update(table, key, mutate, { ...options, deadline: () => 5_000 })
      return update(write, key, ++begun).finally(() => written++)
    },
  }
  const services: Services = Object.create(parts, { keyStore: { value: () => ({ ...store, storage }) } })
  const context = { ...contextOf(user), deadline: () => left(written) }
  const status = revokeKeys(services, spec, 'test', context)
  return { status, context }
}

const disabledOf = async (names: readonly string[]): Promise<string[]> => {
  const found = await Promise.all(names.map(async (name) => ((await isDisabled(name)) ? [name] : [])))
  return found.flat()
}

describe('while a revocation runs', () => {
  // threat: revocation-9
  test.each<[string, (name: string) => Promise<unknown>]>([
    ['loses the label', (name) => patch(name, { metadata: { labels: { run: null } } })],
    [
      'is made anew under its name',
      async (name) => {
        await server.call(`${keys}/${name}`, { method: 'DELETE' })
        await make(name, {}, { labels: { run: `race-${counted}` } })
      },
    ],
  ])('a key that %s is left alone', async (_, change) => {
    const { names, spec } = await makeKeys(3)
    const { status } = await run(spec, {
      async update(write, key) {
        if (key === names[1]) await change(key)
        return write()
      },
    })
    expect(await status).toMatchObject({ matched: 3, done: 2, failed: 0, remaining: false })
    expect(await disabledOf(names)).toEqual([names[0], names[2]])
  })

  // threat: revocation-9
  test('a key that is used is no longer unused', async () => {
    const used = await make('used-meanwhile')
    const before = new Date(Date.now() - 60_000).toISOString()
    await server.parts.storage.update(
      OwnedAccessKey.table,
      used.name,
      (live) => {
        if (!live) throw new Error('no key')
        const metadata = { ...live.object.metadata, creationTimestamp: '2026-01-01T00:00:00Z' }
        return { type: 'put', object: { ...live.object, metadata }, internal: live.internal }
      },
      { deadline: () => 5_000 },
    )
    const { status } = await run(
      { names: [used.name], unusedSince: before },
      {
        async update(write) {
          expect(await use(used.token)).toBe(201)
          return write()
        },
      },
    )
    expect(await status).toMatchObject({ matched: 1, done: 0, failed: 0 })
    expect(await use(used.token)).toBe(201)
  })

  // threat: revocation-12
  test('the caller may be revoked, and the rest is a 401', async () => {
    const { names, spec } = await makeKeys(60)
    const own = await make('revoked-caller', { user: 'root', groups: ['system:masters'] })
    let ended: Promise<unknown> | undefined
    const { status, context } = await run(spec, {
      token: own.token,
      left: (written) => 20_000 - 200 * written,
      async update(write, _key, number) {
        if (number > 10) {
          ended ??= patch(own.name, { spec: { disabled: true } })
          await ended
        }
        return write()
      },
    })
    const error = await status.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(error instanceof StatusError && error.status.code).toBe(401)
    const done = await disabledOf(names)
    expect([done.length > 10, done.length < 60]).toEqual([true, true])
    expect(context.notes).toMatchObject({ count: done.length, names: done })
  })
})

describe('a revocation without time', () => {
  test('says that keys are left, and continues where it stopped', async () => {
    const { names, spec } = await makeKeys(40)
    const first = await (await run(spec, { left: (written) => (written < 10 ? 20_000 : 4_999) })).status
    expect(first).toMatchObject({ matched: 40, failed: 0, remaining: true })
    const done = await disabledOf(names)
    // At most the writes that were in progress come after the limit.
    expect([done.length >= 10, done.length <= 10 + 16, first.done]).toEqual([true, true, done.length])
    // On a slow machine, the time of a request may not be enough for the others either.
    for (let [left, remaining] = [40 - done.length, true]; remaining; ) {
      const { status } = (await revoke(spec)).json
      expect(status).toMatchObject({ matched: left, failed: 0, remaining: status.done < left })
      left -= status.done
      remaining = status.remaining
    }
    expect(await disabledOf(names)).toEqual(names)
  })

  test('leaves the key of the request until the last', async () => {
    const { spec } = await makeKeys(20)
    const run_ = `race-${counted}`
    const own = await make(`${run_}-caller`, { user: 'root', groups: ['system:masters'] }, { labels: { run: run_ } })
    const asked = { ...spec, includeSelf: true }
    const token = own.token
    const late = await run(asked, { token, left: (written) => (written < 3 ? 20_000 : 4_999) })
    expect(await late.status).toMatchObject({ matched: 21, remaining: true })
    expect(await use(token)).toBe(201)
    const broken = await run(asked, {
      token,
      update: (write, key) =>
        key === `${run_}-019` ? Promise.reject(new StorageError('Unavailable', 'no answer')) : write(),
    })
    expect(await broken.status).toMatchObject({
      failed: 1,
      remaining: true,
      failures: [{ name: `${run_}-019`, code: 503, message: 'the store is not available, please try again' }],
    })
    expect(await use(token)).toBe(201)
    const last: string[] = []
    const done = await run(asked, {
      token,
      update: (write, key) => {
        last.push(key)
        return write()
      },
    })
    expect(await done.status).toMatchObject({ failed: 0, remaining: false })
    expect(last.at(-1)).toBe(own.name)
    expect(await use(token)).toBe(401)
  })
})
