/** Compares all answers with the change log after the writers have stopped. */
import type { Change } from '../../../lib/engine/storage/interface.ts'
import type { Seen } from '../../support/reflector.ts'
import { outcomeOf, type Wrote } from './crowd.ts'

const markOf = (object: { spec?: Record<string, unknown> } | undefined): unknown => object?.spec?.displayName

/** Returns the revisions of a write in the log, by its mark or, for deletions, by UID. */
function revisions(changes: readonly Change[]): Map<unknown, number[]> {
  const found = new Map<unknown, number[]>()
  const add = (mark: unknown, rv: number) => found.set(mark, [...(found.get(mark) ?? []), rv])
  for (const { type, rv, stored, previous } of changes) {
    if (type === 'DELETED') add(stored.object.metadata.uid, rv)
    else if (markOf(stored.object) !== markOf(previous?.object)) add(markOf(stored.object), rv)
  }
  return found
}

/** Checks each write. Done: logged once, at the answered revision, above all earlier ones. Refused: never. Unknown: at most once. */
export function judgeWrites(wrote: readonly Wrote[], changes: readonly Change[]): string[] {
  const found = revisions(changes)
  const wrong: string[] = []
  const deletions = new Map<string, Wrote[]>()
  for (const one of wrote) {
    const { verb, mark, after, answer } = one
    if (verb === 'delete') {
      deletions.set(mark, [...(deletions.get(mark) ?? []), one])
      continue
    }
    const at = found.get(mark) ?? []
    const outcome = outcomeOf(one)
    const said = `${verb} ${mark} was answered ${answer.status} and is in the log at [${at}]`
    if (outcome === 'done' && at.join() !== answer.json.metadata.resourceVersion) wrong.push(said)
    if (outcome === 'refused' && at.length > 0) wrong.push(said)
    if (at.length > 1) wrong.push(said)
    if (at.some((rv) => rv <= after)) wrong.push(`${said}, although ${after} had been told before`)
  }
  for (const [uid, attempts] of deletions) {
    const at = found.get(uid) ?? []
    const done = attempts.filter((one) => outcomeOf(one) === 'done').length
    const unknown = attempts.some((one) => outcomeOf(one) === 'unknown')
    const said = `${uid} was deleted ${done} times and is so in the log at [${at}]`
    if (done > 1 || at.length > 1 || (at.length !== done && !unknown)) wrong.push(said)
  }
  return wrong
}

/** Checks that each change of a name follows the previous one. */
export function judgeChains(changes: readonly Change[]): string[] {
  const states = new Map<string, number>()
  return changes.flatMap(({ type, rv, key, previous }) => {
    const before = states.get(key)
    if (type === 'DELETED') states.delete(key)
    else states.set(key, rv)
    return before === previous?.rv ? [] : [`${type} of ${key} at ${rv} follows ${before}, says ${previous?.rv}`]
  })
}

export interface Listed {
  /** The highest revision in any answer before the request. */
  after: number
  rv: number
  items: string[]
}

/** Returns the objects at a revision with their revisions. */
function replay(changes: readonly Change[], until: number): string[] {
  const states = new Map<string, number>()
  for (const { type, rv, key } of changes) {
    if (rv > until) break
    if (type === 'DELETED') states.delete(key)
    else states.set(key, rv)
  }
  return [...states].map(([key, rv]) => `${key}@${rv}`).sort()
}

export function judgeList({ after, rv, items }: Listed, changes: readonly Change[]): string[] {
  const right = replay(changes, rv)
  return [
    ...(rv < after ? [`a list is at ${rv} after ${after} had been told`] : []),
    ...(items.toSorted().join() === right.join() ? [] : [`a list at ${rv} has ${items}, the log ${right}`]),
  ]
}

/** Checks that every change after `from` arrives once and in order. */
export function judgeWatch(from: number, seen: readonly Seen[], changes: readonly Change[]): string[] {
  const said = seen.map(({ type, name, rv }) => `${type} ${name}@${rv}`)
  const right = changes.filter(({ rv }) => rv > from).map(({ type, key, rv }) => `${type} ${key}@${rv}`)
  return said.join('\n') === right.join('\n') ? [] : [`a watch from ${from} saw ${said}, the log has ${right}`]
}
