/** Drives the code of lib/ with one access key: authentication, rotations and reports of leaks, over a table whose calls a test controls. */

import { administers } from '../../../../lib/access/users/administrators.ts'
import { authorOf } from '../../../../lib/access/users/author.ts'
import { StatusError } from '../../../../lib/engine/meta/errors/status.ts'
import type { JsonObject, KubeObject } from '../../../../lib/engine/meta/types.ts'
import { createObject } from '../../../../lib/engine/registry/create.ts'
import type { Store } from '../../../../lib/engine/registry/store.ts'
import { updateObject } from '../../../../lib/engine/registry/update.ts'
import type { Storage } from '../../../../lib/engine/storage/interface.ts'
import { type Items, type ItemWrite, keyOf } from '../../../../lib/engine/storage/items.ts'
import { type ItemKey, rowsOf, sortKey } from '../../../../lib/engine/storage/keys.ts'
import { storageOver } from '../../../../lib/engine/storage/protocol/storage.ts'
import { getCompanion } from '../../../../lib/engine/storage/readcompanions.ts'
import { credentialItemKey } from '../../../../lib/keys/credential/credential.ts'
import { decodeKeyInternal } from '../../../../lib/keys/credential/keyinternal.ts'
import { bindToMaker } from '../../../../lib/keys/credential/maker.ts'
import type { KeyHash } from '../../../../lib/keys/credential/pepper.ts'
import { OwnedAccessKey } from '../../../../lib/keys/ownedaccesskey.ts'
import type { ChangeValues } from '../../../../lib/keys/ownedaccesskey.values.ts'
import { rotateKey } from '../../../../lib/keys/ownedaccesskeyrotation.change.ts'
import { authenticate } from '../../../../lib/keys/requests/authenticate.ts'
import { confirmFirstUse, recordActivity } from '../../../../lib/keys/requests/uses.ts'
import type { Services } from '../../../../lib/keys/services.ts'
import { generationOf, valuesOf } from '../../../../lib/keys/values/keyvalues.ts'
import { endLeaked } from '../../../../lib/keys/values/leak.ts'
import { authenticationDeps } from '../../../../lib/server/authentication.ts'
import { readValue } from '../../../../lib/server/leaks/findvalues.ts'
import { admin, contextOf } from '../../../support/users.ts'
import type { Event } from './truth.ts'

const name = 'ci'
const { table, plural } = OwnedAccessKey
const rowKey = { pk: rowsOf(plural), sk: sortKey(name) }

/** Values (`v2`) as texts that can be access keys. Their hash is their name. */
const textOf = (value: string) => value.padEnd(40, '-')
const hashOf = (value: string): KeyHash => ({ version: '1', hash: value })
const hashes = async (text: string) => [hashOf(text.replace(/-+$/u, ''))]
const isAt = (write: ItemWrite, { pk, sk }: ItemKey) => keyOf(write).pk === pk && keyOf(write).sk === sk

/** Why the server refuses a request, or undefined. */
type Refusal = string | undefined

/** What the requests of a test do with the key. */
export interface System {
  authenticate(value: string): Promise<Refusal>
  rotate(rotation: { overlap: number; key: string; replace?: boolean }): Promise<Refusal>
  finish(): Promise<Refusal>
  /** Sets `spec.key`. */
  put(value: string): Promise<Refusal>
  reportLeak(value: string): Promise<Refusal>
  /** Writes the key without a change, as the hourly run does. */
  settle(): Promise<Refusal>
  /** Judges a value, and confirms nothing. */
  works(value: string): Promise<boolean>
  /** Returns what is wrong with the stored form: the live items of these values are those that the key lists, each with its generation. */
  inspect(values: readonly string[]): Promise<string[]>
}

export interface World {
  items: Items
  /** Unix seconds. */
  now(): number
  /** Makes a call of the table. */
  call<T>(run: () => Promise<T>): Promise<T>
  happened(event: Event): void
}

/** Returns the system, with a key that has the first value. */
export async function createReal({ items, now, call, happened }: World, first: string): Promise<System> {
  const ms = () => now() * 1000
  let uids = 0
  const open = (over: Items): Storage =>
    storageOver(over, { now: ms, elapsed: ms, random: () => 0, sleep: () => Promise.resolve() })
  /** Calls that no test controls. */
  const atRest = open(items)

  /** The table as one request sees it, which makes this change, once the transaction of the key is done. */
  const itemsFor = (eventOf: () => Event): Items => ({
    limits: items.limits,
    get: (key, isRecent) => call(() => items.get(key, isRecent)),
    batchGet: (keys, attributes) => call(() => items.batchGet(keys, attributes)),
    query: (query) => call(() => items.query(query)),
    write: (one, deadline) => call(() => items.write(one, deadline)),
    allocate: (key, time) => call(() => items.allocate(key, time)),
    transact: (writes, deadline) =>
      call(async () => {
        const outcome = await items.transact(writes, deadline)
        if (outcome.done) report(eventOf(), writes)
        return outcome
      }),
  })

  /** Reports what a transaction has changed. */
  function report(event: Event, writes: readonly ItemWrite[]): void {
    for (const write of writes) {
      if (write.type !== 'set' || !write.key.pk.startsWith('credential#1#')) continue
      const { firstUsed } = write.attributes
      if (firstUsed !== undefined)
        happened({ type: 'first-used', value: write.key.pk.slice('credential#1#'.length), at: Number(firstUsed) })
    }
    if (writes.some((write) => isAt(write, rowKey))) happened(isMade(event, writes) ? event : { type: 'settled' })
  }

  /** Reports whether the transaction gives the key another value, if that is what the request wants. */
  function isMade(event: Event, writes: readonly ItemWrite[]): boolean {
    if (event.type !== 'put' && event.type !== 'rotated') return true
    const key = credentialItemKey(hashOf(event.value))
    return writes.some((write) => write.type === 'put' && isAt(write, key) && write.item.ended === undefined)
  }

  /** Returns the store of access keys, and the services of their kind. */
  function servicesOver(storage: Storage) {
    const services = {
      keys: {
        hashes,
        readCredential: async (hash: KeyHash) => (await getCompanion(storage, credentialItemKey(hash)))?.attributes,
        readCredentials: async (all: readonly KeyHash[]) =>
          (await storage.getCompanions(all.map(credentialItemKey))).map((item) => item?.attributes),
        limits: {},
        retentionSeconds: 2 * 86_400,
        maxPerOwner: 0,
      },
      scopes: { projectNamespacePrefix: 'p-' },
      keyStore: () => store,
    } as unknown as Services
    const store: Store = {
      kind: OwnedAccessKey as unknown as Store['kind'],
      strategy: OwnedAccessKey.strategy(services),
      storage,
      uuid: () => `uid-${++uids}`,
      randomInt: () => 0,
      mayDelete: async () => true,
      administers,
      guard: bindToMaker,
      authorOf,
    }
    return { storage, store, services }
  }

  const context = () => contextOf(admin, { now: new Date(ms()) })
  const depsOf = (storage: Storage) => ({
    ...authenticationDeps({ storage, hashes, limits: {}, recordSources: false }, () => {}),
    now: ms,
    signal: async () => {},
  })

  /** Runs a request, and returns its refusal. */
  async function run(act: () => Promise<unknown>): Promise<Refusal> {
    try {
      await act()
      return undefined
    } catch (error) {
      if (error instanceof StatusError && error.status.code < 500) return String(error.status.message)
      throw error
    }
  }

  function update(store: Store, secrets: { path: string[]; value: string }[], change?: ChangeValues) {
    const transform = (object: KubeObject) => ({ object, secrets })
    const request = { namespace: '', name, subresource: '', verb: 'patch', transform } as const
    return updateObject(store, { ...request, ...(change && { intent: { type: 'leak' as const, change } }) }, context())
  }

  const rotate = (
    event: Event,
    rotation: { value: string; finish: boolean; replace: boolean; overlapSeconds: number },
  ) =>
    run(() => {
      const { services } = servicesOver(open(itemsFor(() => event)))
      return rotateKey(services, { name }, { ...rotation, value: textOf(rotation.value), isOwn: true }, context())
    })

  const key = {
    apiVersion: 'management.platform/v1',
    kind: OwnedAccessKey.kind,
    metadata: { name },
    spec: { user: 'alice' },
  }
  const secrets = [{ path: ['spec', 'key'], value: textOf(first) }]
  await createObject(servicesOver(atRest).store, { object: key, secrets }, context())

  return {
    async authenticate(value) {
      const deps = depsOf(open(itemsFor(() => ({ type: 'settled' }))))
      const found = await authenticate(textOf(value), deps)
      if (!('user' in found)) return 'dead' in found ? found.dead : 'unknown'
      const refused = await confirmFirstUse(found.presented, deps)
      if (refused) return 'dead' in refused ? refused.dead : 'unknown'
      await recordActivity(found.presented, deps)
      return undefined
    },
    rotate: ({ overlap, key, replace = false }) =>
      rotate(
        { type: 'rotated', value: key, overlap, replace },
        { value: key, finish: false, replace, overlapSeconds: overlap },
      ),
    finish: () => rotate({ type: 'finished' }, { value: '', finish: true, replace: false, overlapSeconds: 0 }),
    put: (value) =>
      run(() => {
        const { store } = servicesOver(open(itemsFor(() => ({ type: 'put', value }))))
        return update(store, [{ path: ['spec', 'key'], value: textOf(value) }])
      }),
    settle: () => run(() => update(servicesOver(open(itemsFor(() => ({ type: 'settled' })))).store, [])),
    reportLeak: (value) =>
      run(async () => {
        let event: Event = { type: 'settled' }
        const { store, storage } = servicesOver(open(itemsFor(() => event)))
        const item = await getCompanion(storage, credentialItemKey(hashOf(value)))
        if (!item || item.attributes.ended === 'leaked') return
        await update(store, [], async (settled) => {
          const found = await getCompanion(storage, credentialItemKey(hashOf(value)))
          const change = endLeaked(settled, hashOf(value), { at: now() }, readValue(hashOf(value), found ?? item))
          const ended = change?.ended.map(({ credential }) => credential.hash) ?? []
          event = change ? { type: 'leaked', value, ended } : { type: 'settled' }
          return change && { ...change, disables: change.internal.ended !== undefined }
        })
      }),
    works: async (value) => 'user' in (await authenticate(textOf(value), depsOf(atRest))),
    async inspect(values) {
      const stored = await atRest.get(table, name)
      if (!stored) return ['the key is gone']
      const listed = new Map(
        valuesOf(decodeKeyInternal(stored.internal)).map((value) => [
          value.credential.hash,
          generationOf(value, stored.object.metadata.generation ?? 0),
        ]),
      )
      const found = values.map(async (value): Promise<string[]> => {
        const item = (await items.get(credentialItemKey(hashOf(value)))) as JsonObject | undefined
        if (!item || item.ended !== undefined) return []
        const generation = listed.get(value)
        if (generation === undefined) return [`${value} lives, and the key does not list it`]
        return generation === item.generation ? [] : [`${value} has generation ${item.generation}, not ${generation}`]
      })
      return (await Promise.all(found)).flat()
    },
  }
}
