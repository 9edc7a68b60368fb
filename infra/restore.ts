/**
 * Restores the objects of a deployment's table from another table, which DynamoDB restored to a time before an incident.
 * There must be no other writers meanwhile (docs/operating.md describes how to ensure that). Can be repeated after an interruption.
 *
 * - Counters only rise: later revisions are new to every client. A client that holds an older one gets a 410 and lists again.
 *   The change log is not restored.
 * - Revocations stay in force: the named access keys, trusts and identity providers are not restored.
 * - Values of keys that have ended stay ended: tombstones of both tables are kept, and a key is not restored if one of its
 *   values has ended since, if another one has come into use, or if it has ended because nobody used it.
 * - No event is published twice, and none is lost: signals are those of the deployment, and their publisher continues after the
 *   changes that the restore makes. In the table of another deployment, history begins anew.
 * - Parts of transactions are repaired or named (repair.ts): DynamoDB may have restored the items of one at different moments.
 * - The history and the usage of keys are those of both tables: what happened since the other one is not undone, and processes that
 *   live on do not write again what they have written today.
 * - No key of an exchange is restored: the trust that it came through may have been closed since. A job exchanges again.
 * - No ID token can be exchanged again: the records of exchanged tokens are those of both tables. Fetched keys of issuers are not restored.
 */
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type AttributeValue,
  BatchWriteItemCommand,
  DynamoDBClient,
  PutItemCommand,
  paginateScan,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb'
import { activityOf, isSlot, revisionKey, rowsOf } from '../lib/engine/storage/keys.ts'
import { type Command, runCommand, UsageError } from './command.ts'
import { repair } from './repair.ts'
import { compareValues, isTombstone, type StoredItem, textOf } from './restoredvalues.ts'
import { sideItemIn } from './sideitems.ts'

export interface Restoration {
  client: DynamoDBClient
  /** Table to restore from. */
  from: string
  /** Table of the deployment. */
  to: string
  /** Names of access keys that stay revoked, and of other objects as RESOURCE/NAME. */
  without: ReadonlySet<string>
  /** Unix milliseconds. */
  now: number
  sleep(ms: number): Promise<unknown>
}

export interface Restored {
  written: number
  removed: number
  /** The named objects that the other table contains. */
  withheld: string[]
  /** The keys that the other table contains with a value that has ended since. */
  ended: string[]
  /** The number of keys that exchanges made. */
  exchanged: number
  /** Parts of transactions that the other table contains: what was repaired, and what somebody must do, one line each. */
  repairs: string[]
  open: string[]
}

/** Exceeds the number of revisions that writers from before the incident, which are still running, could hold. */
const margin = 10_000

const numberOf = ({ N = '0' }: AttributeValue = { N: '0' }) => Number(N)
const secondsOf = (ms: number): AttributeValue => ({ N: String(Math.floor(ms / 1000)) })
const idOf = ({ pk, sk }: StoredItem) => JSON.stringify([textOf(pk), textOf(sk)])
const isRevision = ({ pk, sk }: StoredItem) => textOf(sk) === revisionKey(textOf(pk)).sk

/** Makes `to` equal to `from` and returns the numbers of changed items. Throws the client's errors; can be repeated. */
export async function restore(restoration: Restoration): Promise<Restored> {
  const { client, from, to, without, now, sleep } = restoration
  const wanted = new Map<string, StoredItem>()
  const withheld = new Set<string>()
  const exchanged = new Set<string>()
  const revisions = new Map<string, number>()
  const raise = (item: StoredItem) => {
    const kind = textOf(item.pk)
    revisions.set(kind, Math.max(revisions.get(kind) ?? 0, numberOf(item.n)))
  }
  const restored: StoredItem[] = []
  const slots: StoredItem[] = []
  for await (const item of itemsOf(client, from)) {
    if (isRevision(item)) raise(item)
    else if (isSlot({ pk: textOf(item.pk) })) slots.push(item)
    else if (!['drop', 'keep'].includes(restorationOf(item))) restored.push(item)
  }
  const then = revisions.get(accessKeys) ?? 0
  const { items, repairs, open } = repair(restored, slots)
  for (const item of items) {
    const name = nameOf(item)
    if (name !== undefined && without.has(name)) withheld.add(name)
    else wanted.set(idOf(item), item)
    if (name !== undefined && item.federation !== undefined) exchanged.add(name)
  }
  const present: StoredItem[] = []
  const published: StoredItem[] = []
  const values = compareValues(wanted.values())
  for await (const item of itemsOf(client, to)) {
    if (isRevision(item)) raise(item)
    else if (isPublished(item)) published.push(item)
    else if (restorationOf(item) === 'keep') continue
    else if (restorationOf(item) === 'merge') wanted.delete(idOf(item))
    else {
      values.meet(item)
      if (isTombstone(item)) wanted.delete(idOf(item))
      else present.push({ pk: item.pk, sk: item.sk } as StoredItem)
    }
  }
  const { names: ended, tombstones } = values.ended(now)
  for (const [id, item] of wanted) {
    const name = nameOf(item)
    if (name !== undefined && (exchanged.has(name) || ended.has(name))) wanted.delete(id)
  }
  const kept = new Set([...wanted.keys(), ...tombstones.map(idOf)])
  const extra = present.filter((item) => !kept.has(idOf(item)))
  // Do this first: nothing that is written from here on can then be mistaken for an older state.
  for (const [kind, n] of revisions) await putRevision(client, to, kind, n + margin, now)
  const put = (items: Iterable<StoredItem>) =>
    writeAll(
      client,
      to,
      [...items].map((Item) => ({ PutRequest: { Item } })),
      sleep,
    )
  // Do this next: what follows removes what shows that these values have ended, and the restore may be interrupted.
  await put(tombstones)
  const removals = extra.map((Key) => ({ DeleteRequest: { Key } }))
  await writeAll(client, to, removals, sleep)
  const last = (revisions.get(accessKeys) ?? 0) + margin
  // A publisher that has not come to the moment of the other table has missed what happened since: its deployment was lost.
  const anew = ({ rv, since }: StoredItem) => since && numberOf(rv) < then && { since: secondsOf(now) }
  await put(published.map((item) => ({ ...item, ...anew(item), rv: { N: String(last) } })))
  await put(wanted.values())
  return {
    written: wanted.size,
    removed: extra.length,
    withheld: [...withheld].sort(),
    ended: [...ended].sort(),
    exchanged: exchanged.size,
    repairs,
    open,
  }
}

const accessKeys = 'ownedaccesskeys'
/** The kinds whose objects can be left out. */
const leftOut = [accessKeys, 'federatedidentitycredentials', 'identityproviders']

const restorationOf = ({ pk }: StoredItem) => sideItemIn(textOf(pk))?.restore ?? 'replace'

/** The position in the change log up to which events are published (lib/keys/events/position.ts). */
const isPublished = ({ pk }: StoredItem) => textOf(pk) === 'lifecycle#position'

/**
 * Returns the name of the access key that an item belongs to, or RESOURCE/NAME of another object. The item is a row, copy,
 * entry, mark, activity, credential or owner index entry. A tombstone belongs to none.
 */
function nameOf({ pk, sk, name, key, ended }: StoredItem): string | undefined {
  const partition = textOf(pk)
  if (partition.startsWith('credential#')) return ended === undefined ? textOf(name) : undefined
  const entry = textOf(sk)
  for (const resource of leftOut) {
    const rows = rowsOf(resource)
    const prefix = resource === accessKeys ? '' : `${resource}/`
    const isOwn = partition === rows || partition.startsWith(`${rows}#`) || partition === activityOf(resource)
    if (isOwn) return `${prefix}${entry}`
    if (partition.startsWith('owner#') && entry.startsWith(`${resource}/`)) return `${prefix}${textOf(key)}`
  }
  return undefined
}

async function* itemsOf(client: DynamoDBClient, TableName: string): AsyncGenerator<StoredItem, void, void> {
  for await (const { Items = [] } of paginateScan({ client }, { TableName, ConsistentRead: true })) yield* Items
}

/** Marks all earlier revisions as settled and expired. */
async function putRevision(client: DynamoDBClient, TableName: string, kind: string, n: number, now: number) {
  const number = (value: number) => ({ N: String(value) })
  const { pk, sk } = revisionKey(kind)
  const Item = {
    pk: { S: pk },
    sk: { S: sk },
    n: number(n),
    settled: number(n),
    floor: number(n),
    at: number(now),
    // The tombstones of both tables stay until they expire.
    cleared: number(n),
    marked: number(n),
    markedAt: number(now),
  }
  await client.send(new PutItemCommand({ TableName, Item }))
}

/** Maximum number of requests in one BatchWriteItem call. */
const batchSize = 25

/** Requests that the table had no capacity for are repeated after pauses that double, between these bounds in ms. */
const [firstPause, longestPause] = [50, 5_000]

async function writeAll(
  client: DynamoDBClient,
  table: string,
  requests: readonly WriteRequest[],
  sleep: Restoration['sleep'],
): Promise<void> {
  for (let at = 0; at < requests.length; at += batchSize) {
    let rest = requests.slice(at, at + batchSize)
    for (let pause = firstPause; rest.length > 0; pause = Math.min(2 * pause, longestPause)) {
      const { UnprocessedItems } = await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: rest } }))
      rest = UnprocessedItems?.[table] ?? []
      if (rest.length > 0) await sleep(pause)
    }
  }
}

const COMMAND = {
  call: 'npm run restore',
  about: `Restores the objects of a deployment's table from another table. Nothing else must write to it meanwhile:
docs/operating.md describes how to ensure that. You can repeat the command after an interruption.`,
  options: {
    region: { type: 'string', value: 'REGION', required: true, help: 'region of both tables' },
    from: { type: 'string', value: 'TABLE', required: true, help: 'the table that DynamoDB restored' },
    to: { type: 'string', value: 'TABLE', required: true, help: 'the table of the deployment' },
    without: {
      type: 'string',
      value: 'FILE',
      help: 'names of access keys that stay revoked, one per line; other objects as RESOURCE/NAME',
    },
  },
} as const satisfies Command

if (import.meta.main) {
  await runCommand(COMMAND, async ({ region, from, to, without }) => {
    if (from === to) throw new UsageError('--from and --to are the same table')
    const names = without === undefined ? '' : await readFile(without, 'utf8')
    const client = new DynamoDBClient({ region })
    const { written, removed, withheld, exchanged, ended, repairs, open } = await restore({
      client,
      from,
      to,
      without: new Set(names.split('\n').map((line) => line.trim())),
      now: Date.now(),
      sleep: delay,
    })
    process.stdout.write(
      `${written} items written, ${removed} removed, keys not restored: ${withheld.join(', ') || 'none'}\n` +
        `keys not restored because one of their values has ended since: ${ended.join(', ') || 'none'}\n` +
        `keys of exchanges, which are never restored: ${exchanged}\n` +
        repairs.map((line) => `repaired: ${line}\n`).join('') +
        open.map((line) => `NOT REPAIRED: ${line}\n`).join(''),
    )
  })
}
