/**
 * Models the protocol of rotations over items with atomic conditional writes. A step ends where the real code calls the
 * table. Each rule can be left out.
 */
import type { Rule } from './rules.ts'
import { derive, type Facts, type Item, listed, type Row, tombstone } from './stored.ts'
import {
  type Allowed,
  type Answer,
  type Authenticated,
  type By,
  type Event,
  type RotationRequest,
  replaceSeconds,
  requestSeconds,
  retentionSeconds,
  type Step,
  type System,
  type World,
} from './system.ts'

interface Carried {
  uid: string
  generation: number
  successor: string | undefined
  brief: boolean
}

type Judged = { item: Item; step: number; role: 'current' | 'pending' | 'retiring' } | { dead: string } | undefined

/** A change of the key, computed from the row after it was settled. */
interface Draft {
  before: Row
  row: Row
  facts: Map<string, Item | undefined>
  endings: Map<string, string>
  now: number
}
type Change = (draft: Draft) => { done: Event | undefined; value?: string; remove?: true } | { refused: string }

const ACTIVITY_SECONDS = 60

export function createModel(world: World, without: ReadonlySet<Rule>): System {
  const { life, now, chance, happened } = world
  const has = (rule: Rule) => !without.has(rule)
  const uid = 'u'
  let row: Row | undefined = {
    rv: 1,
    uid,
    generation: 1,
    disabled: false,
    current: world.first,
    value: 1,
  }
  const expires = (lastActivity: number | undefined): number | undefined =>
    life.ttl && life.ttl + (life.sliding ? Math.max(life.created, lastActivity ?? 0) : life.created)
  const index = (at: number | undefined) =>
    at === undefined ? {} : { index: { partition: 'credential' as const, at } }
  let items = new Map<string, Item>([
    [world.first, { uid, generation: 1, value: 1, disabled: false, ...index(expires(undefined)) }],
  ])
  let activity: number | undefined

  /** Executes an atomic write, unless it is refused or lost. An answer may be lost after it. */
  function commit(
    holds: () => boolean,
    write: () => void,
    event: Event | undefined,
  ): 'done' | 'refused' | 'unanswered' {
    if (chance(0.03)) return 'unanswered'
    if (!holds()) return 'refused'
    write()
    if (event) happened(event)
    return chance(0.03) ? 'unanswered' : 'done'
  }

  function* judge(value: string): Step<Judged> {
    const at = now()
    for (let turn = 0; turn < 4; turn++) {
      const item = items.get(value)
      const step = world.step()
      if (!item) return { dead: 'unknown' }
      if (item.ended) return { dead: item.ended }
      if (item.until !== undefined && at >= item.until) return { dead: 'rotated' }
      let role = roleOf(item)
      if (item.successor !== undefined) {
        yield
        const next = items.get(item.successor)
        if (!next && has('a missing successor means dead')) return { dead: 'rotated' }
        if (next?.ended && next.firstUsed !== undefined) return { dead: 'rotated' }
        if (next && (next.ended || (!next.pending && next.firstUsed === undefined))) {
          if (!has('a replaced successor means to look again')) return { dead: 'rotated' }
          continue
        }
        if (next?.firstUsed !== undefined) {
          if (at >= next.firstUsed + Number(item.overlap)) return { dead: 'rotated' }
          role = 'retiring'
        }
      }
      if (!has('a pending value does not lapse') && role === 'pending' && Number(item.index?.at) <= at)
        return { dead: 'lapsed' }
      const dead = yield* lifeOf(item, at)
      return dead ? { dead } : { item, step, role }
    }
    return undefined
  }

  const roleOf = ({ until, pending, firstUsed }: Item): 'current' | 'pending' | 'retiring' =>
    until !== undefined ? 'retiring' : pending && firstUsed === undefined ? 'pending' : 'current'

  function* lifeOf({ disabled, value, successor, until, lastActivity }: Item, at: number): Step<string | undefined> {
    if (disabled) return 'disabled'
    const isOver = (last: number | undefined) => at >= (expires(last) ?? Number.POSITIVE_INFINITY)
    if (!isOver(lastActivity)) return undefined
    const isOnly = value === 1 && successor === undefined && until === undefined
    if (isOnly || !life.sliding || !has('sliding life counts every value')) return 'expired'
    yield
    return isOver(Math.max(lastActivity ?? 0, activity ?? 0)) ? 'expired' : undefined
  }

  function* authenticate(value: string, { dryRun = false }: { dryRun?: boolean } = {}): Step<Authenticated> {
    for (let turn = 0; turn < 3; turn++) {
      const at = now()
      const judged = yield* judge(value)
      if (judged === undefined) break
      if ('dead' in judged) return { refused: judged.dead }
      const { item, step, role } = judged
      const { generation, successor, brief } = item
      const carried: Carried = { uid: item.uid, generation, successor, brief: brief === true }
      const allowed: Allowed = { value, at, step, carried }
      if (dryRun || !has('the first use is recorded before the request is allowed')) return allowed
      if (role !== 'pending') {
        yield* touch(value, item, at)
        return allowed
      }
      yield
      if (now() - at > 10) break
      const outcome = firstUse(value)
      if (outcome === 'done') return allowed
      if (outcome === 'unanswered') break
    }
    return { unanswered: true }
  }

  function firstUse(value: string): 'done' | 'refused' | 'unanswered' {
    const holds = () => {
      const item = items.get(value)
      if (!item) return false
      if (!has('the first use is conditional')) return true
      const isOff = has('no first use of a disabled key') && item.disabled
      const isUsed = has('the first use counts once') && item.firstUsed !== undefined
      return !item.ended && item.pending === true && !isOff && !isUsed
    }
    const write = () => {
      const { index: _, ...item } = items.get(value) as Item
      const overlap = row?.pending?.overlap ?? 0
      const firstUsed = has('the overlap counts from the first use') ? now() : (row?.pending?.made ?? 0)
      const next = { partition: 'rotation' as const, at: firstUsed + overlap }
      items.set(value, { ...item, firstUsed, lastActivity: now(), index: next })
      activity = Math.max(activity ?? 0, now())
    }
    return commit(holds, write, { type: 'first-used', value, at: now() })
  }

  /** Records the activity; a use of which nothing is recorded is none. */
  function* touch(value: string, seen: Item, at: number): Step<void> {
    const due = Math.min(ACTIVITY_SECONDS, (life.ttl ?? Number.POSITIVE_INFINITY) / 4)
    if (seen.lastActivity !== undefined && at - seen.lastActivity <= due) return
    yield
    const item = items.get(value)
    if (!item || item.ended || item.generation !== seen.generation || chance(0.1)) return
    items.set(value, { ...item, lastActivity: Math.max(item.lastActivity ?? 0, at) })
    activity = Math.max(activity ?? 0, at)
    happened({ type: 'touched', at })
  }

  /** Follows the facts: a pending value that was used is current, and what is over has ended. */
  function settle(draft: Draft): void {
    const { facts, endings, now: at } = draft
    const dropRetiring = () => {
      const { retiring, ...rest } = draft.row
      if (!retiring || at < retiring.until) return
      endings.set(retiring.value, 'rotated')
      draft.row = rest
    }
    /** A restored key may list a pending value that has ended. */
    const dropEnded = () => {
      const { pending, ...rest } = draft.row
      const item = pending && facts.get(pending.value)
      if (pending && (!item || (item.ended && item.firstUsed === undefined))) draft.row = rest
    }
    dropRetiring()
    dropEnded()
    const { pending, retiring: _, ended, ...rest } = draft.row
    const firstUsed = pending && facts.get(pending.value)?.firstUsed
    if (!pending || firstUsed === undefined || !has('writes settle by the facts of the items')) return
    const old = { value: rest.current, number: rest.value, until: firstUsed + pending.overlap }
    draft.row = {
      ...rest,
      current: pending.value,
      value: pending.number,
      generation: rest.generation + 1,
      ...(!ended && !facts.get(old.value)?.ended && { retiring: old }),
    }
    dropRetiring()
  }

  const raise = (draft: Draft) => {
    const { generation } = has('the spec and the settling each raise the generation') ? draft.row : draft.before
    draft.row = { ...draft.row, generation: generation + 1 }
  }

  /** Reports why the key's own value may not change it, by the facts. */
  function refusal(by: Allowed, before: Row, facts: Facts, at: number): string | undefined {
    const { uid: of, generation } = by.carried as Carried
    const item = facts.get(by.value)
    const isOld = has('writes are bound to the generation') && item?.generation !== generation
    if (has('writes are bound to their value') && (!item || item.ended || before.uid !== of || isOld)) return 'changed'
    if (!item || before.disabled) return 'changed'
    const firstUsed = item.successor === undefined ? undefined : facts.get(item.successor)?.firstUsed
    const isOver = firstUsed !== undefined && (item.brief || at >= firstUsed + Number(item.overlap))
    if (isOver && has('writes are bound to the successor')) return 'changed'
    return item.until !== undefined && at >= item.until ? 'changed' : undefined
  }

  function* write(by: By, change: Change): Step<Answer> {
    const began = by?.at ?? now()
    for (let turn = 0; turn < 6; turn++) {
      const before = row
      const shared = activity
      if (!before) return { refused: 'not found' }
      yield
      const facts = new Map<string, Item | undefined>(listed(before).map((value) => [value, items.get(value)]))
      const at = now()
      if (at - began > requestSeconds) return { refused: 'too late' }
      const reason = by && refusal(by, before, facts, at)
      if (reason !== undefined) return { refused: reason }
      const draft: Draft = { before, row: before, facts, endings: new Map(), now: at }
      settle(draft)
      const changed = change(draft)
      if ('refused' in changed) return changed
      const answer = { done: true as const, ...(changed.value !== undefined && { value: changed.value }) }
      if (draft.row === before && draft.endings.size === 0 && !changed.remove) return answer
      yield
      if (now() - began > requestSeconds) return { refused: 'too late' }
      const after = changed.remove ? undefined : { ...draft.row, rv: before.rv + 1 }
      const more = { expires, activity: shared, requestSeconds }
      const writes = derive({ before, after, facts, endings: draft.endings, now: at, ...more })
      const isUnused = (value: string) => !facts.get(value)?.firstUsed
      const unused = before.pending && isUnused(before.pending.value) ? before.pending.value : undefined
      const outcome = commit(
        () => {
          if (row?.rv !== before.rv) return false
          if (!has('a pending value is replaced only while it is unused') || unused === undefined) return isFree(writes)
          return items.get(unused)?.firstUsed === undefined && isFree(writes)
        },
        () => {
          row = after
          for (const [value, item] of writes) put(value, item)
        },
        changed.done ?? { type: 'settled' },
      )
      if (outcome === 'unanswered') return { unanswered: true }
      if (outcome === 'done') return answer
    }
    return { refused: 'busy' }
  }

  /** Reports whether new values are unknown. */
  const isFree = (writes: ReadonlyMap<string, Item | undefined>): boolean => {
    if (!has('ended values cannot be supplied') || !row) return true
    const known = listed(row)
    return [...writes].every(([value, item]) => !item || item.ended || known.includes(value) || !items.has(value))
  }

  /** Writes an item. The activity that touches have recorded meanwhile is kept. */
  function put(value: string, item: Item | undefined): void {
    const there = items.get(value)
    if (!item) items.delete(value)
    else if (item.ended && !has('tombstones keep the first use')) {
      const { firstUsed: _, ...rest } = item
      items.set(value, rest)
    } else if (item.ended || there?.lastActivity === undefined) items.set(value, item)
    else items.set(value, { ...item, lastActivity: Math.max(there.lastActivity, item.lastActivity ?? 0) })
  }

  /** Writes of earlier versions put the item of the current value, whatever is there. */
  function revive(draft: Draft): void {
    const { current } = draft.row
    const item = draft.facts.get(current)
    const isRevived = item?.ended ? !has('later writes keep what has ended') : false
    const isMade = item === undefined && !has('a listed value without an item stays without')
    if (!isRevived && !isMade) return
    draft.facts.set(current, { uid, generation: 0, value: draft.row.value, disabled: false })
  }

  const isRetiring = (by: By, { row: { retiring } }: Draft) =>
    by !== undefined && by.value === retiring?.value && has('a retiring value may not rotate')

  const rotate = (by: By, { overlap, key, replace = false, finish }: RotationRequest): Step<Answer> =>
    write(by, (draft) => {
      const { row: settled, facts, endings, now: at } = draft
      const { pending, retiring } = settled
      if (finish) {
        if (!pending && !retiring) return { refused: 'nothing to finish' }
        if (isRetiring(by, draft)) return { refused: 'retiring' }
        const { pending: _, retiring: __, ...rest } = settled
        for (const one of [pending?.value, retiring?.value]) if (one !== undefined) endings.set(one, 'finished')
        draft.row = rest
        return { done: { type: 'finished', by } }
      }
      if (at >= (expires(activity) ?? Number.POSITIVE_INFINITY)) return { refused: 'expired' }
      if (isRetiring(by, draft) || (retiring && has('no rotation during an overlap'))) return { refused: 'overlap' }
      if (key !== undefined && key === pending?.value) return { done: undefined, value: key }
      if (key !== undefined && listed(settled).includes(key)) return { refused: 'duplicate' }
      if (key !== undefined && items.has(key) && has('ended values cannot be supplied')) return { refused: 'duplicate' }
      const isOld = pending && at - pending.made >= replaceSeconds
      const mayReplace = replace && (!by || isOld || !has('jobs replace only what is an hour old'))
      if (pending && !mayReplace && has('a rotation waits while another value is pending'))
        return { refused: 'pending' }
      if (pending) endings.set(pending.value, 'replaced')
      if (retiring) endings.set(retiring.value, 'rotated')
      const { retiring: _, ...rest } = settled
      const value = key ?? world.newValue()
      const number = (pending?.number ?? rest.value) + 1
      draft.row = { ...rest, pending: { value, number, overlap, made: at } }
      facts.delete(value)
      return { done: { type: 'rotated', by, value, overlap, replace: mayReplace }, value }
    })

  return {
    authenticate,
    rotate,
    put: (by, value) =>
      write(by, (draft) => {
        const { pending, retiring, ended: _, ...rest } = draft.row
        if (isRetiring(by, draft)) return { refused: 'retiring' }
        if (value === rest.current || value === retiring?.value) return { refused: 'duplicate' }
        const isKnown = value !== pending?.value && items.has(value)
        if (isKnown && has('ended values cannot be supplied')) return { refused: 'duplicate' }
        const isLeft = !has('spec.key ends the pending value') && pending && pending.value !== value
        for (const one of [rest.current, retiring?.value]) if (one !== undefined) draft.endings.set(one, 'replaced')
        if (pending && pending.value !== value && !isLeft) draft.endings.set(pending.value, 'replaced')
        const number = (pending?.number ?? rest.value) + 1
        draft.row = { ...rest, current: value, value: number, ...(isLeft && { pending }) }
        raise(draft)
        return { done: { type: 'put', by, value } }
      }),
    setDisabled: (by, disabled) =>
      write(by, (draft) => {
        revive(draft)
        if (draft.row.disabled === disabled) return { done: undefined }
        draft.row = { ...draft.row, disabled }
        raise(draft)
        return { done: { type: 'disabled', by, disabled } }
      }),
    remove: (by) => write(by, () => ({ done: { type: 'removed', by }, remove: true })),
    *writeOther(by) {
      yield
      if (now() - by.at > requestSeconds) return { refused: 'too late' }
      const { uid: of, generation, successor, brief } = by.carried as Carried
      const holds = () => {
        const item = items.get(by.value)
        if (!has('writes are bound to their value')) return true
        if (!item || item.ended || item.uid !== of) return false
        if (has('writes are bound to the generation') && item.generation !== generation) return false
        if (!brief) return !has('writes see a brief rotation that began later') || !item.brief
        if (!has('writes are bound to the successor') || successor === undefined) return true
        const next = items.get(successor)
        return item.successor === successor && next !== undefined && next.firstUsed === undefined
      }
      const outcome = commit(holds, () => {}, { type: 'wrote-other', by })
      if (outcome === 'unanswered') return { unanswered: true }
      return outcome === 'done' ? { done: true } : { refused: 'changed' }
    },
    *reportLeak(value) {
      const item = items.get(value)
      if (!item || item.ended) return { done: true }
      yield
      return yield* write(undefined, (draft) => {
        const { pending, retiring, ...rest } = draft.row
        const margin = has('tokens of requests in flight end') ? requestSeconds : 0
        const notBefore = { tokensNotBefore: draft.now + margin }
        if (value === rest.current && !rest.ended) {
          draft.endings.set(value, 'leaked')
          if (retiring && has('a leak ends the retiring value')) draft.endings.set(retiring.value, 'leaked')
          const kept = retiring && !has('a leak ends the retiring value') ? { retiring } : {}
          draft.row = { ...rest, ...(pending && { pending }), ...kept, ...notBefore, ended: true, disabled: true }
          raise(draft)
        } else if (value === retiring?.value) {
          draft.endings.set(value, 'leaked')
          draft.row = { ...rest, ...(pending && { pending }), ...notBefore }
        } else if (value === pending?.value) {
          draft.endings.set(value, 'leaked')
          draft.row = { ...rest, ...(retiring && { retiring }), ...notBefore }
        } else return { done: undefined }
        return { done: { type: 'leaked', value } }
      })
    },
    *settle() {
      const due = [...items.values()].some(({ index: one }) => one?.partition === 'rotation' && one.at <= now())
      yield
      if (due) yield* write(undefined, () => ({ done: undefined }))
    },
    *sweep() {
      const isDue = ({ index: one }: Item) => one?.partition === 'credential' && one.at <= now() - retentionSeconds
      const isStale = (item: Item) => Number(expires(item.lastActivity)) <= now() - retentionSeconds && !item.ended
      const byKey = has('the sweep judges by the key')
      const found = [...items.values()].some((item) => isDue(item) || (!byKey && isStale(item)))
      yield
      const before = row
      const end = expires(byKey ? activity : undefined)
      if (!found || !before || end === undefined) return
      if (byKey && end > now() - retentionSeconds) return
      if (!byKey && ![...items.values()].some(isStale)) return
      yield
      if (row?.rv !== before.rv) return
      for (const value of listed(before)) if (!items.get(value)?.ended) items.delete(value)
      row = undefined
      happened({ type: 'swept' })
    },
    *recheck(by) {
      const { generation } = by.carried as Carried
      const judged = yield* judge(by.value)
      return judged !== undefined && !('dead' in judged) && judged.item.generation === generation
    },
    works(value) {
      const steps = judge(value)
      let one = steps.next()
      while (!one.done) one = steps.next()
      return one.value === undefined ? 'undecided' : !('dead' in one.value)
    },
    tokenWorks(issuedAt) {
      if (!row || row.disabled) return false
      if (row.tokensNotBefore === undefined || !has('tokens end with a leak')) return true
      return issuedAt > row.tokensNotBefore
    },
    inspect: () => inspect(row, items),
    dropTombstones() {
      const gone = [...items].filter(([, { expires: at }]) => at !== undefined && at <= now()).map(([value]) => value)
      for (const value of gone) items.delete(value)
      return gone
    },
    backUp() {
      const copy = structuredClone({ row, items, activity })
      return () => {
        const { works } = this
        const isDead = (value: string, item: Item) => item.ended !== undefined || isOver(value, item, items, now())
        const kept = [...items].filter(([value, item]) => isDead(value, item) && works(value) !== true)
        const then = structuredClone(copy)
        row = then.row && { ...then.row, rv: then.row.rv + 1_000 }
        activity = then.activity
        items = then.items
        if (!has('a restore keeps tombstones')) return
        for (const [value, item] of kept) items.set(value, item.ended ? item : tombstone(item, 'rotated', now()))
        // Later, a missing successor would mean that the value is dead.
        for (const item of items.values()) {
          const next = item.successor === undefined ? undefined : items.get(item.successor)
          if (next?.ended && next.firstUsed === undefined) delete item.successor
        }
      }
    },
  }
}

/** Reports whether a rotation has ended a value, though nothing has settled it yet. */
function isOver(_: string, { until, successor, overlap = 0 }: Item, items: ReadonlyMap<string, Item>, now: number) {
  if (until !== undefined) return now >= until
  const used = successor === undefined ? undefined : items.get(successor)?.firstUsed
  return used !== undefined && now >= used + overlap
}

/** Returns what is wrong with the stored form: the live items are those that the row lists, each in its role. */
function inspect(row: Row | undefined, items: ReadonlyMap<string, Item>): string[] {
  const wrong: string[] = []
  const roles = new Map<string, number>()
  if (row) {
    roles.set(row.current, row.generation)
    if (row.pending) roles.set(row.pending.value, row.generation + 1)
    if (row.retiring) roles.set(row.retiring.value, row.generation - 1)
  }
  for (const [value, item] of items) {
    if (item.ended) continue
    const generation = roles.get(value)
    if (generation === undefined) wrong.push(`${value} lives, and the key does not list it`)
    else if (generation !== item.generation) wrong.push(`${value} has generation ${item.generation}, not ${generation}`)
    if (item.index?.partition === 'credential' && value !== row?.current) wrong.push(`${value} is in the index`)
  }
  return wrong
}
