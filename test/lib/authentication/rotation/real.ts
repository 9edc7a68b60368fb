/**
 * Drives the code of lib/ with the schedules: authentication, the strategy of access keys, rotations, reports
 * of leaks and the sweep, over a table whose every call waits for the schedule.
 */

import { OwnedAccessKey } from '../../../../lib/apis/management/v1/ownedaccesskey.ts'
import type { ChangeValues } from '../../../../lib/apis/management/v1/ownedaccesskey.values.ts'
import type { Services } from '../../../../lib/apis/management/v1/services.ts'
import { credentialItemKey } from '../../../../lib/authentication/credential.ts'
import { decodeKeyInternal } from '../../../../lib/authentication/keyinternal.ts'
import type { KeyHash } from '../../../../lib/authentication/pepper.ts'
import type { LivingKey } from '../../../../lib/authentication/requests/authenticate.ts'
import type { UserInfo } from '../../../../lib/authorization/users/user.ts'
import type { KubeObject } from '../../../../lib/meta/types.ts'
import type { RequestContext } from '../../../../lib/registry/kind.ts'
import type { Store } from '../../../../lib/registry/store.ts'
import type { Storage } from '../../../../lib/storage/interface.ts'
import { type Item, type Items, ItemsFault, type ItemWrite, keyOf } from '../../../../lib/storage/items.ts'
import { rowsOf, sortKey } from '../../../../lib/storage/keys.ts'
import { getCompanion } from '../../../../lib/storage/readcompanions.ts'
import { admin, contextOf } from '../../../support/users.ts'
import type { Subject } from './realsubject.ts'
import {
  type Answer,
  type Authenticated,
  type By,
  type Event,
  requestSeconds,
  retentionSeconds,
  type Step,
  type System,
  type World,
} from './system.ts'

const name = 'ci'
const { table, plural } = OwnedAccessKey
const rowKey = { pk: rowsOf(plural), sk: sortKey(name) }
const otherKey = { pk: rowsOf(plural), sk: sortKey('other') }

/** Values of a schedule (`v2`) as texts that can be access keys. Their hash is their name. */
const textOf = (value: string) => value.padEnd(40, '-')
const hashOf = (value: string): KeyHash => ({ version: '1', hash: value })
const hashes = async (text: string) => [hashOf(text.replace(/-+$/u, ''))]
const valueAt = ({ pk }: { pk: string }) => (pk.startsWith('credential#1#') ? pk.slice(13) : undefined)
const isAt = (write: ItemWrite, { pk, sk }: { pk: string; sk: string }) =>
  keyOf(write).pk === pk && keyOf(write).sk === sk

export interface RealWorld extends World {
  known(): readonly string[]
  truth: { forget(values: readonly string[]): void }
}

/** What one request of a schedule does, from its first call to its last. */
interface Request {
  /** The change that its write makes, once the transaction of the key is done. */
  event?: Event | undefined
  /** The value that it presents, and the step at which it last read the credential of that. */
  value?: string
  readStep: number
}

export interface RealTable {
  items: Items
  /** Makes a call of the table, when its turn has come. */
  call<T>(run: () => Promise<T>): Promise<T>
  /** Waits, as a request does before it tries again. */
  pause(): Promise<void>
}

/** Returns the system, with the key `ci` that has the first value, and another key. */
export async function createReal(
  world: RealWorld,
  { items, call: callTable, pause }: RealTable,
  subject: Subject,
): Promise<System> {
  const { now, step, chance, happened, life } = world
  const ms = () => now() * 1000
  const open = (over: Items, sleep: (ms: number) => Promise<void>): Storage =>
    subject.storageOver(over, { now: ms, elapsed: ms, random: () => Number(chance(0.5)) / 2, sleep })
  /** Calls without the schedule, while nothing else happens. */
  const atRest = open(items, () => Promise.resolve())

  /** The table as one request sees it. */
  function itemsFor(request: Request): Items {
    const call = <T>(run: () => Promise<T>): Promise<T> =>
      callTable(() =>
        run().catch((error: unknown) => {
          throw error instanceof ItemsFault ? new subject.ItemsFault(error.kind, error.cause) : error
        }),
      )
    return {
      limits: items.limits,
      get: (key, isRecent) =>
        call(() => {
          if (request.value !== undefined && valueAt(key) === request.value) request.readStep = step()
          return items.get(key, isRecent)
        }),
      batchGet: (keys, attributes) => call(() => items.batchGet(keys, attributes)),
      query: (query) => call(() => items.query(query)),
      write: (one, deadline) => call(() => items.write(one, deadline)),
      allocate: (key, time) => call(() => items.allocate(key, time)),
      transact: (writes, deadline) =>
        call(async () => {
          if (chance(0.02)) throw new subject.ItemsFault('unanswered', new Error('lost'))
          if (chance(0.02)) return { done: false, refused: [], conflicts: [0] }
          const outcome = await items.transact(writes, deadline)
          if (outcome.done) await report(request, writes)
          if (chance(0.02)) throw new subject.ItemsFault('unanswered', new Error('lost answer'))
          return outcome
        }),
    }
  }

  /** Reports what a transaction has changed. */
  async function report(request: Request, writes: readonly ItemWrite[]): Promise<void> {
    for (const write of writes) {
      if (write.type !== 'set' || !write.when || !('lastActivity' in write.when)) continue
      const value = valueAt(write.key)
      const { lastActivity, firstUsed } = write.attributes
      if (value === undefined) continue
      if (firstUsed === undefined) happened({ type: 'touched', at: Number(lastActivity) })
      else happened({ type: 'first-used', value, at: Number(firstUsed) })
    }
    const target = request.event?.type === 'wrote-other' ? otherKey : rowKey
    if (!writes.some((write) => isAt(write, target))) return
    happened(request.event && isMade(request.event, writes) ? request.event : { type: 'settled' })
    const gone: string[] = []
    for (const value of world.known()) if (!(await items.get(credentialItemKey(hashOf(value))))) gone.push(value)
    world.truth.forget(gone)
  }

  /** Reports whether the transaction gives the key another value, if that is what the request wants. */
  function isMade(event: Event, writes: readonly ItemWrite[]): boolean {
    if (event.type !== 'put' && event.type !== 'rotated') return true
    const { pk, sk } = credentialItemKey(hashOf(event.value))
    return writes.some((write) => write.type === 'put' && isAt(write, { pk, sk }) && write.item.ended === undefined)
  }

  /** Returns the store of access keys for one request, and the services of their kind. */
  function servicesFor(request: Request) {
    const storage = open(itemsFor(request), pause)
    const readCredential = async (hash: KeyHash) => {
      const { pk, sk } = credentialItemKey(hash)
      return (await getCompanion(storage, { pk, sk }))?.attributes
    }
    const services = {
      keys: {
        generate: () => textOf(world.newValue()),
        hashes,
        readCredential,
        readCredentials: async (all: readonly KeyHash[]) =>
          (await storage.getCompanions(all.map(credentialItemKey))).map((item) => item?.attributes),
        limits: {},
        retentionSeconds,
        maxPerOwner: 0,
      },
      scopes: { projectNamespacePrefix: 'p-' },
      keyStore: () => store,
    }
    const store: Store = {
      kind: subject.OwnedAccessKey as unknown as Store['kind'],
      strategy: subject.OwnedAccessKey.strategy(services as unknown as Services),
      storage,
      uuid: () => `uid-${step()}-${Math.floor(1e9 * Number(chance(0.5)))}`,
      randomInt: () => 0,
      mayDelete: async () => true,
    }
    return { storage, store, services: services as unknown as Services }
  }

  const authenticationDeps = (storage: Storage) => ({
    ...subject.authenticationDeps({ storage, hashes, limits: {}, recordSources: false }, () => {}),
    now: ms,
    signal: async () => {},
  })

  const contextFor = (by: By): RequestContext => {
    const began = now()
    const user = by ? (by.carried as UserInfo) : admin
    const deadline = () => (began + requestSeconds - now()) * 1000
    return { ...contextOf(user, { now: new Date(ms()) }), deadline }
  }

  /** Runs a request, and translates its errors. */
  function* run(act: (request: Request) => Promise<Answer>): Step<Answer> {
    const answer = act({ readStep: step() }).catch((error: unknown): Answer => {
      if (error instanceof subject.StatusError) {
        const { code, message } = error.status
        if (code === 504) return { unanswered: true }
        return { refused: /a value has been pending since/u.test(String(message)) ? 'pending' : String(message) }
      }
      if (error instanceof subject.StorageError) {
        return error.code === 'Undecided' ? { unanswered: true } : { refused: error.code }
      }
      throw error
    })
    return (yield answer) as Answer
  }

  const change = (by: By, event: (live: KubeObject) => Event, spec: object, value?: string): Step<Answer> =>
    run(async (request) => {
      const secrets = value === undefined ? [] : [{ path: ['spec', 'key'], value: textOf(value) }]
      await subject.updateObject(
        servicesFor(request).store,
        {
          namespace: '',
          name,
          subresource: '',
          verb: 'patch',
          transform(live) {
            request.event = event(live)
            return { object: { ...live, spec: { ...live.spec, ...spec } }, secrets }
          },
        },
        contextFor(by),
      )
      return { done: true }
    })

  const first = hashOf(world.first)
  await createKeys()

  async function createKeys(): Promise<void> {
    for (const [metadata, value] of [
      [{ name }, world.first],
      [{ name: 'other' }, 'other'],
    ] as const) {
      const { services } = servicesFor({ readStep: 0 })
      const store = {
        kind: subject.OwnedAccessKey as unknown as Store['kind'],
        strategy: subject.OwnedAccessKey.strategy({
          ...services,
          keys: {
            ...services.keys,
            readCredential: async (hash: KeyHash) =>
              (await items.get(credentialItemKey(hash))) as Awaited<ReturnType<Services['keys']['readCredential']>>,
          },
        }),
        storage: atRest,
        uuid: () => `uid-of-${metadata.name}`,
        randomInt: () => 0,
        mayDelete: async () => true,
      }
      const spec = { user: 'alice', ...(value === world.first && life.ttl && { ttl: life.ttl }) }
      const sliding = value === world.first && life.sliding ? { ttlAfterLastActivity: true } : {}
      const object = {
        apiVersion: 'management.platform/v1',
        kind: 'OwnedAccessKey',
        metadata,
        spec: { ...spec, ...sliding },
      }
      const secrets = [{ path: ['spec', 'key'], value: textOf(value) }]
      const context = contextOf(admin, { now: new Date(life.created * 1000) })
      await subject.createObject(store, { object, secrets }, context)
    }
    if (!(await items.get(credentialItemKey(first)))) throw new Error('the key has no credential')
  }

  return {
    *authenticate(value) {
      const request: Request = { value, readStep: step() }
      const at = now()
      const { storage } = servicesFor(request)
      async function authenticate(): Promise<Authenticated> {
        const found = await subject.authenticate(textOf(value), authenticationDeps(storage))
        if (!('user' in found)) return { refused: 'dead' in found ? found.dead : 'unknown' }
        const readStep = request.readStep
        const refused = await found.confirm()
        if (refused) return { refused: 'dead' in refused ? refused.dead : 'unknown' }
        await found.touch()
        const carried = { ...found.user, credential: found.credential }
        return { value, at, step: readStep, carried }
      }
      const answer = authenticate().catch((error: unknown): Authenticated => {
        if (error instanceof subject.StatusError || error instanceof subject.StorageError) return { unanswered: true }
        throw error
      })
      return (yield answer) as Authenticated
    },
    rotate: (by, { overlap, key, replace = false, finish = false }) =>
      run(async (request) => {
        // Only the role selfRotate makes jobs wait for an hour before they replace a value.
        const mayReplace = replace && by === undefined
        const value = finish ? '' : (key ?? world.newValue())
        request.event = finish ? { type: 'finished', by } : { type: 'rotated', by, value, overlap, replace: mayReplace }
        const rotation = {
          value: textOf(value),
          isOwn: key !== undefined,
          finish,
          replace: mayReplace,
          overlapSeconds: overlap,
        }
        await subject.rotateKey(servicesFor(request).services, { name }, rotation, contextFor(by))
        return { done: true, ...(!finish && { value }) }
      }),
    put: (by, value) => change(by, () => ({ type: 'put', by, value }), {}, value),
    setDisabled: (by, disabled) =>
      change(
        by,
        ({ spec }) =>
          (spec?.disabled === true) === disabled ? { type: 'settled' } : { type: 'disabled', by, disabled },
        { disabled },
      ),
    remove: (by) =>
      run(async (request) => {
        request.event = { type: 'removed', by }
        await subject.deleteObject(servicesFor(request).store, { namespace: '', name }, {}, contextFor(by))
        return { done: true }
      }),
    writeOther: (by) =>
      run(async (request) => {
        request.event = { type: 'wrote-other', by }
        const description = `written at ${step()}`
        await subject.updateObject(
          servicesFor(request).store,
          {
            namespace: '',
            name: 'other',
            subresource: '',
            verb: 'patch',
            transform: (live) => ({ object: { ...live, spec: { ...live.spec, description } }, secrets: [] }),
          },
          contextFor(by),
        )
        return { done: true }
      }),
    reportLeak: (value) =>
      run(async (request) => {
        const { store, storage } = servicesFor(request)
        const { pk, sk } = credentialItemKey(hashOf(value))
        const item = await getCompanion(storage, { pk, sk })
        if (!item || item.attributes.ended === 'leaked') return { done: true }
        const change: ChangeValues = async (settled, { draft }) => {
          const found = await getCompanion(storage, { pk, sk })
          const ended = subject.readValue(hashOf(value), found ?? item)
          const change = subject.endLeaked(settled, hashOf(value), { at: now() }, ended)
          const gone = change?.ended.map(({ credential }) => credential.hash) ?? []
          request.event = change ? { type: 'leaked', value, ended: gone } : { type: 'settled' }
          if (change?.internal.ended) draft.object.spec = { ...draft.object.spec, disabled: true }
          return change
        }
        const transform = (live: KubeObject) => ({ object: live, secrets: [] })
        await subject.updateObject(
          store,
          { namespace: '', name, subresource: '', verb: 'patch', transform, plan: { change } },
          contextFor(undefined),
        )
        return { done: true }
      }),
    *settle() {
      yield* change(undefined, () => ({ type: 'settled' }), {})
    },
    *sweep() {
      yield* run(async (request) => {
        request.event = { type: 'swept' }
        const { store, storage } = servicesFor(request)
        await subject.sweepExpired({
          store,
          storage,
          now: () => new Date(ms()),
          retentionSeconds: { exchanged: retentionSeconds, others: retentionSeconds },
          limits: {},
          hasTime: () => true,
          deadline: controllerDeadline(now()),
          maxDeletions: 10,
        })
        return { done: true }
      })
    },
    *recheck(by) {
      const { storage } = servicesFor({ readStep: step() })
      const judged = subject.authenticate(textOf(by.value), authenticationDeps(storage))
      const found = (yield judged.catch(() => ({ unknown: true }))) as Awaited<typeof judged>
      return 'user' in found && found.user.key.generation === (by.carried as LivingKey['user']).key.generation
    },
    async works(value) {
      const found = await subject.authenticate(textOf(value), authenticationDeps(atRest))
      return 'user' in found
    },
    inspect: () => inspect(items, world.known(), subject),
  }

  function controllerDeadline(began: number) {
    return () => (began + 60 - now()) * 1000
  }
}

/** Returns what is wrong with the stored form: the live items are those that the key lists, each with its generation. */
async function inspect(items: Items, values: readonly string[], subject: Subject): Promise<string[]> {
  const stored = await subject
    .storageOver(items, { now: () => 0, elapsed: () => 0, random: () => 0, sleep: async () => {} })
    .get(table, name)
  const roles = new Map<string, number>()
  if (stored) {
    for (const value of subject.valuesOf(decodeKeyInternal(stored.internal))) {
      roles.set(value.credential.hash, subject.generationOf(value, stored.object.metadata.generation ?? 0))
    }
  }
  const wrong: string[] = []
  for (const value of values) {
    const item = (await items.get(credentialItemKey(hashOf(value)))) as Item | undefined
    if (!item || item.ended !== undefined) continue
    const generation = roles.get(value)
    if (generation === undefined) wrong.push(`${value} lives, and the key does not list it`)
    else if (generation !== item.generation) wrong.push(`${value} has generation ${item.generation}, not ${generation}`)
  }
  return wrong
}
