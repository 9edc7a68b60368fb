/**
 * Advises a smaller scope for a key: everything that is recorded stays allowed, nothing is gained, and what cannot be known
 * stays as it is. Advice never decides a request.
 */
import { byteLength, MAX_CHAIN_BYTES, validateChain, withScope } from '../scopes/chain.ts'
import { projectOf } from '../scopes/project.ts'
import { hasReviews } from '../scopes/roles.ts'
import type { Scope, ScopeChain } from '../scopes/scope.ts'
import { validateScope } from '../scopes/validatescope.ts'
import { impliedBy, kubeConfigOf } from './entryeffects.ts'
import { exactRules } from './exactrules.ts'
import { type ExaminedLine, examineLines, keepsEntries } from './lines.ts'
import { atomOf, narrowLine } from './narrow.ts'
import { keepsPlaces } from './places.ts'
import { withLines } from './scopelines.ts'
import { type Unknown, unknownsOf, wholeLines } from './unknowns.ts'
import type { Usage, UsageOptions } from './usage.ts'
import { ANY_NAME, judgeEntry, type UsedPlace } from './usedentry.ts'

interface Advice {
  /** A smaller scope under which everything that is recorded stays allowed. Absent: there is none, or `unknowns` forbid advice. */
  scope?: Scope
  /** The lines that it drops, and those that it narrows, as the engine names them. For a key without a scope nothing. */
  dropped: string[]
  narrowed: string[]
  /** What cannot be known. */
  unknowns: Unknown[]
}

/** Returns advice about the key's own scope. It does not throw, whatever the record contains. */
export function adviseScope(scope: Scope | undefined, usage: Usage, options: UsageOptions): Advice {
  const lines = examineLines(scope, usage, options)
  const unknowns = unknownsOf(scope, lines, usage, options)
  const none: Advice = { dropped: [], narrowed: [], unknowns }
  if (unknowns.some(({ withholds }) => withholds)) return none
  if (scope !== undefined) {
    const { whole, ...smaller } = smallerScope(scope, lines, usage, options)
    return { ...none, ...smaller, unknowns: [...unknowns, ...wholeLines(whole, options)] }
  }
  const first = firstScope(usage, options)
  return first ? { ...none, scope: first } : { ...none, unknowns: [...unknowns, noScope] }
}

/** A line, and what takes its place. */
interface Replacement {
  line: string
  entries: readonly object[]
}

function smallerScope(
  scope: Scope,
  lines: readonly ExaminedLine[],
  usage: Usage,
  options: UsageOptions,
): Pick<Advice, 'dropped' | 'narrowed'> & { scope?: Scope; whole: ExaminedLine[] } {
  const { inherited = [] } = options
  const before = withScope(inherited, scope)
  const keeps = keepsPlaces(before, usage, options)
  const replaced = new Map<string, readonly object[]>()
  const isValid = validity(before)

  const dropped = replaceAll(lines.filter(({ state }) => state === 'Unused').map(({ line }) => ({ line, entries: [] })))
  const whole: ExaminedLine[] = []
  const narrower = lines.flatMap((line) => {
    const entries = narrowLine(line, options)
    if (entries === undefined) whole.push(line)
    return entries ? [{ line: line.line, entries }] : []
  })
  const narrowed = replaceAll(narrower)
  const inOrder = (names: ReadonlySet<string>) => lines.map(({ line }) => line).filter((line) => names.has(line))
  return {
    ...(replaced.size > 0 && { scope: withLines(scope, replaced) }),
    dropped: inOrder(dropped),
    narrowed: inOrder(narrowed),
    whole,
  }

  /**
   * Replaces lines until no more can be replaced, and returns their names. A narrowed line may be longer, and has room once others
   * are shorter. A role for reviews can go once the clusters beside it have gone.
   */
  function replaceAll(some: readonly Replacement[]): Set<string> {
    const done = new Set<string>()
    let open = some
    for (let found = replace(open); found.size > 0; found = replace(open)) {
      for (const line of found) done.add(line)
      open = open.filter(({ line }) => !found.has(line))
    }
    return done
  }

  /** Replaces as many of the lines as it can at once and returns their names. */
  function replace(some: readonly Replacement[]): Set<string> {
    const [first, ...others] = some
    if (first === undefined) return new Set()
    const next = new Map([...replaced, ...some.map(({ line, entries }) => [line, entries] as const)])
    const chain = withScope(inherited, withLines(scope, next))
    if (isValid(chain) && keeps(chain)) {
      for (const { line, entries } of some) replaced.set(line, entries)
      return new Set(some.map(({ line }) => line))
    }
    if (others.length === 0) return new Set()
    const half = Math.ceil(some.length / 2)
    return new Set([...replace(some.slice(0, half)), ...replace(some.slice(half))])
  }
}

/**
 * Returns a check for chains: it is valid, or at least no longer than a former one that is not. A role for reviews also keeps the
 * clusters beside it from allowing credentials for them, so it stays with them.
 */
function validity(before: ScopeChain): (chain: ScopeChain) => boolean {
  const errorsOf = (chain: ScopeChain) => [...validateChain(chain), ...validateScope(chain.at(-1))]
  const most = errorsOf(before).length === 0 ? MAX_CHAIN_BYTES : byteLength(before)
  const isReviewing = hasReviews(before.at(-1))
  const staysLocked = ({ clusters = [], virtualClusters = [], ...rest }: Scope = {}) =>
    !isReviewing || hasReviews(rest) || clusters.length + virtualClusters.length === 0
  return (chain) =>
    staysLocked(chain.at(-1)) &&
    (errorsOf(chain).length === 0 || (most !== MAX_CHAIN_BYTES && byteLength(chain) <= most))
}

const noScope: Unknown = {
  reason: 'Incomplete',
  message: 'No scope within the limits allows exactly what the key did.',
  withholds: true,
}

/**
 * Returns lines for the clusters where the key acted and those of its kube configs, and exact rules for everything
 * else, or undefined if no scope can be that narrow. A certificate or a token needs the whole line.
 */
function firstScope(usage: Usage, options: UsageOptions): Scope | undefined {
  const { inherited = [] } = options
  const entries = usage.entries.map(({ entry }) => entry).filter((entry) => !judgeEntry([{}], entry, options).allowed)
  const places = [
    ...entries.flatMap((entry) => entry.place ?? kubeConfigOf(entry) ?? []),
    ...usage.accepted.map(({ place }) => place),
  ]
  const named = placesScope(places, options)
  const others = [...entries, ...entries.flatMap(impliedBy)].filter(
    (entry) => !judgeEntry([named], entry, options).allowed,
  )
  const atoms = others.flatMap(
    (entry) => atomOf(entry, entry.place ? undefined : { requestTargets: ['Management'] }) ?? [],
  )
  const rules = exactRules(atoms)
  const scope = { ...named, ...(rules.length > 0 && { rules }) }
  const chain = withScope(inherited, scope)
  const isFaithful =
    validateChain(chain).length === 0 &&
    validateScope(scope).length === 0 &&
    keepsEntries(entries, { before: { rules: [{}] }, after: scope }, options) &&
    keepsPlaces(inherited, usage, options)(chain)
  return isFaithful ? scope : undefined
}

/** Other names would be wildcards, or mean that the name is not recorded. */
const isExact = ({ name }: UsedPlace): boolean => name !== '' && name !== '*' && name !== ANY_NAME

function placesScope(all: readonly UsedPlace[], options: UsageOptions): Scope {
  const places = all.filter(isExact)
  const clusters = places.flatMap((place) => (place.type === 'cluster' ? [{ cluster: place.name }] : []))
  const virtualClusters = places.flatMap((place) => {
    const project = place.type === 'virtualCluster' ? projectOf(place.namespace, options) : undefined
    return project === undefined ? [] : [{ project, virtualCluster: place.name }]
  })
  return {
    ...(clusters.length > 0 && { clusters: distinct(clusters) }),
    ...(virtualClusters.length > 0 && { virtualClusters: distinct(virtualClusters) }),
  }
}

const distinct = <T>(list: readonly T[]): T[] => {
  const byText = new Map(list.map((one) => [JSON.stringify(one), one]))
  return [...byText.keys()].sort().flatMap((text) => byText.get(text) ?? [])
}
