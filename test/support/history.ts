/** Generates random histories of objects whose readers change, in a table and in a model of it. */
import fc from 'fast-check'
import type { KubeObject } from '../../lib/engine/meta/types.ts'
import type { Storage, Stored, Table } from '../../lib/engine/storage/interface.ts'
import { unhurried } from './deadlines.ts'

export type Step =
  | { op: 'put'; name: string; readers: readonly string[]; label: string }
  | { op: 'delete'; name: string }

const name = fc.constantFrom('a', 'b', 'c')
const readers = fc.subarray(['alice', 'bob'])

/** A write of an object, which creates it when missing, or a deletion. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ op: fc.constant('put' as const), name, readers, label: fc.constantFrom('x', 'y') }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('delete' as const), name }) },
)

/** One state of an object; `undefined` readers mean that it is deleted. */
export interface State {
  uid: string
  name: string
  rv: number
  readers: readonly string[]
  label: string
}

/** Changes in order; `after` is undefined for a deletion. */
export interface Happened {
  rv: number
  name: string
  after: State | undefined
}

let uids = 0

const readersOf = ({ object }: Stored): readonly string[] => (object.spec?.readers ?? []) as string[]

/** Objects are stored in the partitions of their readers. */
export const tableOf = (resource: string): Table => ({
  resource,
  partitions: (one) => readersOf(one as Stored),
  activity: false,
})

export const mayRead =
  (user: string) =>
  (stored: Stored): boolean =>
    readersOf(stored).includes(user)

/** Performs a step and adds its outcome to `history`. */
export async function perform(storage: Storage, table: Table, one: Step, history: Happened[]): Promise<void> {
  const { name } = one
  if (one.op === 'delete') {
    const { before, rv } = await storage.update(table, name, (live) => ({ type: live ? 'delete' : 'none' }), unhurried)
    if (before) history.push({ rv, name, after: undefined })
    return
  }
  const { readers, label } = one
  const { rv, after } = await storage.update(
    table,
    name,
    (live) => {
      const uid = live?.object.metadata.uid ?? `uid-${++uids}`
      const metadata = { name, uid, labels: { label }, annotations: { write: String(history.length) } }
      const object: KubeObject = { apiVersion: 'v1', kind: 'Widget', metadata, spec: { readers: [...readers] } }
      return { type: 'put', object, internal: {} }
    },
    unhurried,
  )
  history.push({ rv, name, after: { uid: after?.object.metadata.uid ?? '', name, rv, readers, label } })
}

/** Returns the objects at a revision by name. */
export function statesAt(history: readonly Happened[], rv: number): Map<string, State> {
  const states = new Map<string, State>()
  for (const one of history) {
    if (one.rv > rv) break
    if (one.after) states.set(one.name, one.after)
    else states.delete(one.name)
  }
  return states
}

/** Returns the newest state of each object by UID, or its last state when deleted. */
export const newestStates = (history: readonly Happened[]): Map<string, State> =>
  new Map(history.flatMap(({ after }) => (after ? [[after.uid, after] as const] : [])))
