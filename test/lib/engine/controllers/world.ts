/** Creates a table with the kinds of the API, and records its changes as stream records. */

import { createHash, randomInt, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { DynamoDBRecord } from 'aws-lambda'
import { parseSpaceNamespace } from '../../../../lib/access/scopes/space.ts'
import { administers } from '../../../../lib/access/users/administrators.ts'
import { authorOf } from '../../../../lib/access/users/author.ts'
import { internalContext } from '../../../../lib/access/users/internalcontext.ts'
import { Namespace } from '../../../../lib/clusters/namespace.ts'
import { VirtualClusterInstance } from '../../../../lib/clusters/virtualclusterinstance.ts'
import type { Collector } from '../../../../lib/engine/controllers/garbagecollector.ts'
import { type Collected, collectStream as collectWrites } from '../../../../lib/engine/controllers/streamrecords.ts'
import type { JsonObject, KubeObject, ObjectMeta, OwnerReference } from '../../../../lib/engine/meta/types.ts'
import { createObject } from '../../../../lib/engine/registry/create.ts'
import { type DeleteOptions, deleteObject } from '../../../../lib/engine/registry/delete.ts'
import type { StoredKind } from '../../../../lib/engine/registry/kind.ts'
import { objectKey, type Store } from '../../../../lib/engine/registry/store.ts'
import { updateObject } from '../../../../lib/engine/registry/update.ts'
import { marshalItem } from '../../../../lib/engine/storage/dynamodb/expressions.ts'
import { streamedWrites } from '../../../../lib/engine/storage/dynamodb/stream.ts'
import type { CompanionItem, Storage } from '../../../../lib/engine/storage/interface.ts'
import type { Items } from '../../../../lib/engine/storage/items.ts'
import { storageOver } from '../../../../lib/engine/storage/protocol/storage.ts'
import { getCompanion } from '../../../../lib/engine/storage/readcompanions.ts'
import { credentialItemKey } from '../../../../lib/keys/credential/credential.ts'
import { decodeKeyInternal } from '../../../../lib/keys/credential/keyinternal.ts'
import type { LifeLimits } from '../../../../lib/keys/credential/keystatus.ts'
import { bindToMaker } from '../../../../lib/keys/credential/maker.ts'
import type { KeyHash } from '../../../../lib/keys/credential/pepper.ts'
import { OwnedAccessKey } from '../../../../lib/keys/ownedaccesskey.ts'
import type { Services } from '../../../../lib/keys/services.ts'
import { CustomResourceDefinition } from '../../../../lib/server/documents/customresourcedefinition.ts'
import type { Rows } from '../../../support/copies.ts'
import { endless } from '../../../support/deadlines.ts'
import { createMemoryItems } from '../../../support/memoryitems.ts'

export interface World {
  /** The items themselves. Puts are not in `records`. */
  rows: Rows
  storage: Storage
  keys: Store
  instances: Store
  /** The clock of everything except the table. */
  now(): Date
  /** Returns the changes of the table since the last call, in order, as Lambda receives them. */
  records(): DynamoDBRecord[]
  /** Creates an access key, or with `ns/name` a virtual cluster instance. */
  make(name: string, metadata?: Partial<ObjectMeta>, spec?: JsonObject): Promise<KubeObject>
  find(name: string): Promise<KubeObject | undefined>
  change(name: string, edit: (object: KubeObject) => KubeObject): Promise<void>
  changeMeta(name: string, metadata: Partial<ObjectMeta>): Promise<void>
  delete(name: string, options?: DeleteOptions): Promise<void>
  /** The side item that authenticates an access key. */
  credential(name: string): Promise<CompanionItem>
  /** Returns the parts of a collector, optionally over another storage of the same table. */
  collector(over?: Storage): Collector & { written: string[] }
  /** Returns the stores over another storage. */
  over(storage: Storage): { keys: Store; instances: Store }
}

const user = internalContext('system:controller:test', new Date(), endless).user

interface Options {
  now?: () => Date
  limits?: LifeLimits
  /** The clock of the table, in unix ms. */
  tableNow?: () => number
}

/** Runs the garbage collector on records as Lambda delivers them. */
export const collectStream = (collector: Collector, records: readonly DynamoDBRecord[]): Promise<Collected> =>
  collectWrites(collector, streamedWrites({ Records: [...records] }) ?? [])

export async function newWorld({
  now = () => new Date(),
  limits = {},
  tableNow = Date.now,
}: Options = {}): Promise<World> {
  const { wrote, records } = recordStream()
  const memory = createMemoryItems(tableNow)
  const items: Items = {
    ...memory,
    async transact(writes, deadline) {
      const outcome = await memory.transact(writes, deadline)
      if (outcome.done) wrote(writes.flatMap((write) => (write.type === 'put' ? [marshalItem(write.item)] : [])))
      return outcome
    },
  }
  const storage = storageOver(items, {
    now: tableNow,
    elapsed: () => performance.now(),
    random: Math.random,
    sleep: (ms) => delay(ms),
  })
  const over = (other: Storage) => ({
    keys: storeOf(OwnedAccessKey, other, limits),
    instances: storeOf(VirtualClusterInstance, other, limits),
  })
  const { keys, instances } = over(storage)
  const context = () => ({
    ...internalContext('system:controller:test', now(), endless),
    user: { ...user, name: 'admin', identity: 'user:admin' as const },
  })
  const locate = (name: string) => {
    const [first = '', second] = name.split('/')
    return second === undefined
      ? { store: keys, namespace: '', name: first }
      : { store: instances, namespace: first, name: second }
  }
  const world: World = {
    rows: {
      get: items.get,
      async put(all) {
        for (const item of all) {
          await items.transact([{ type: 'delete', key: item }], Number.POSITIVE_INFINITY)
          await items.write({ type: 'put', item }, Number.POSITIVE_INFINITY)
        }
      },
    },
    storage,
    keys,
    instances,
    now,
    records,
    over,
    async make(where, metadata = {}, spec) {
      const { store, namespace, name } = locate(where)
      const { group, version, kind } = store.kind
      const object = {
        apiVersion: `${group}/${version}`,
        kind,
        metadata: { ...metadata, name, ...(namespace && { namespace }) },
        ...(spec && { spec }),
      }
      return (await createObject(store, { object, secrets: [] }, context())).stored.object
    },
    async find(where) {
      const { store, namespace, name } = locate(where)
      return (await storage.get(store.kind.table, objectKey(namespace, name)))?.object
    },
    async change(where, edit) {
      const { store, ...place } = locate(where)
      const transform = (object: KubeObject) => ({ object: edit(object), secrets: [] })
      await updateObject(store, { ...place, subresource: '', verb: 'update', transform }, context())
    },
    changeMeta: (where, metadata) =>
      world.change(where, (object) => ({ ...object, metadata: { ...object.metadata, ...metadata } })),
    async delete(where, options = {}) {
      const { store, ...place } = locate(where)
      await deleteObject(store, place, options, context())
    },
    async credential(name) {
      const stored = await storage.get(keys.kind.table, name)
      if (!stored) throw new Error(`there is no ${name}`)
      const { pk, sk } = credentialItemKey(decodeKeyInternal(stored.internal).credential)
      const item = await getCompanion(storage, { pk, sk })
      if (!item) throw new Error(`${name} has no credential`)
      return item
    },
    collector(other = storage) {
      const { keys, instances } = over(other)
      const written: string[] = []
      return {
        stores: [keys, instances],
        storage: other,
        unstored: [
          { kind: Namespace, uidOf: (name) => `uid-of-namespace-${name}` },
          { kind: CustomResourceDefinition },
        ],
        hasTime: () => true,
        deadline: endless,
        contextOf: (user) => internalContext(user, now(), endless),
        wrote: (what) => written.push(what),
        written,
      }
    },
  }
  return world
}

export const reference = (owner: KubeObject, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name ?? '',
  uid: owner.metadata.uid ?? '',
  ...more,
})

export const blocking = { blockOwnerDeletion: true }

function storeOf(kind: StoredKind<Services>, storage: Storage, limits: LifeLimits): Store {
  const hashes = async (key: string): Promise<readonly KeyHash[]> => [
    { version: '1', hash: createHash('sha256').update(key).digest('base64url') },
  ]
  const services: Pick<Services, 'keys' | 'scopes'> = {
    keys: {
      generate: () => randomUUID(),
      maxPerOwner: 0,
      hashes,
      readCredential: async (hash) => {
        const { pk, sk } = credentialItemKey(hash)
        return (await getCompanion(storage, { pk, sk }))?.attributes
      },
      readCredentials: async (all) =>
        (await storage.getCompanions(all.map(credentialItemKey))).map((item) => item?.attributes),
      limits,
      retentionSeconds: 86_400,
      recordSources: true,
    },
    scopes: { projectNamespacePrefix: 'p-', spaceNamespace: parseSpaceNamespace('p-{project}-s-{space}') },
  }
  return {
    kind: kind as unknown as StoredKind,
    strategy: kind.strategy(services as Services),
    storage,
    uuid: randomUUID,
    randomInt: (bound) => randomInt(bound),
    mayDelete: async () => true,
    administers,
    guard: bindToMaker,
    authorOf,
  }
}

type Image = Record<string, { B?: Uint8Array | string }>

/** Makes stream records of the puts of transactions: rows and side items, each with its old image. */
function recordStream() {
  const images = new Map<string, Image>()
  const pending: DynamoDBRecord[] = []
  let sequence = 0
  return {
    records: () => pending.splice(0),
    wrote(puts: readonly Image[]): void {
      for (const put of puts) {
        const { pk, sk } = put as unknown as Record<string, { S: string }>
        const id = JSON.stringify([pk, sk])
        const OldImage = images.get(id)
        images.set(id, put)
        pending.push(
          JSON.parse(
            JSON.stringify({
              eventName: OldImage ? 'MODIFY' : 'INSERT',
              dynamodb: {
                Keys: { pk, sk },
                NewImage: encodeImage(put),
                ...(OldImage && { OldImage: encodeImage(OldImage) }),
                SequenceNumber: String(++sequence).padStart(21, '0'),
              },
            }),
          ),
        )
      }
    },
  }
}

/** Encodes bytes as base64: events are JSON. */
const encodeImage = (image: Image) =>
  Object.fromEntries(
    Object.entries(image).map(([name, value]) => [
      name,
      value.B === undefined ? value : { B: Buffer.from(value.B).toString('base64') },
    ]),
  )

/** The filter of the deployment. */
export const passesFilter = ({ dynamodb, eventName }: DynamoDBRecord): boolean =>
  eventName !== 'REMOVE' && dynamodb?.Keys?.pk?.S?.endsWith('#o') === true

/** Returns the storage of a world where this happens once, after the first call of this name. */
export function onceAfter({ storage }: World, moment: keyof Storage, happen: () => Promise<unknown>): Storage {
  let happened = false
  return interceptCalls(storage, async (name, call) => {
    const answer = await call()
    if (name !== moment || happened) return answer
    happened = true
    await happen()
    return answer
  })
}

/** Wraps a storage with a hook before and after each call. */
export function interceptCalls(
  storage: Storage,
  around: <T>(name: string, call: () => Promise<T>, args: readonly unknown[]) => Promise<T>,
): Storage {
  const entries = Object.entries(storage).map(([name, method]) => [
    name,
    (...args: unknown[]) => around(name, () => (method as (...all: unknown[]) => Promise<unknown>)(...args), args),
  ])
  return Object.fromEntries(entries) as Storage
}
