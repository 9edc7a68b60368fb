/** Generates keys with a random scope and a random record of what that scope allowed. */
import fc from 'fast-check'
import { managesKeys } from '../../../../lib/access/advice/entryeffects.ts'
import type { Usage } from '../../../../lib/access/advice/usage.ts'
import { judgeEntry, type UsedEntry, type UsedPlace, usedEntry } from '../../../../lib/access/advice/usedentry.ts'
import type { Attributes } from '../../../../lib/access/attributes/attributes.ts'
import { acceptsKeys, acceptsKeysOfSpaces } from '../../../../lib/access/review.ts'
import { targetOf } from '../../../../lib/access/scopes/place.ts'
import type { Scope, ScopeChain } from '../../../../lib/access/scopes/scope.ts'
import * as arbitrary from '../arbitraries.ts'

export const OPTIONS = {
  projectNamespacePrefix: 'p-',
  spaceNamespace: { prefix: 'p-', separator: '-s-', suffix: '' },
}

export const PLACES: readonly UsedPlace[] = [
  ...['a', 'b', 'c'].map((name) => ({ type: 'cluster' as const, name })),
  ...['p-a', 'p-b', 'p-', 'default'].flatMap((namespace) =>
    ['a', 'b'].map((name) => ({ type: 'virtualCluster' as const, namespace, name })),
  ),
]

const place = fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, fc.constantFrom(...PLACES))
const made: fc.Arbitrary<Partial<Attributes>> = fc.constantFrom<Partial<Attributes>>(
  { verb: 'create', group: 'management.platform', resource: 'directclusterendpointtokens', subresource: '' },
  { verb: 'create', group: 'management.platform', resource: 'virtualclusterinstances', subresource: 'kubeconfig' },
  { verb: 'create', group: 'management.platform', resource: 'clusters', subresource: 'kubeconfig' },
  { verb: 'create', group: 'authorization.k8s.io', resource: 'subjectaccessreviews', subresource: '' },
)
const namespace = fc.constantFrom('p-a', 'p-b', 'p-a-s-a', 'p-a-s-b', 'p-b-s-a', 'default', '')

export interface Asked {
  attributes: Attributes
  place?: UsedPlace
}

/** A request to this API, or one about which a place asks. */
export const asked: fc.Arbitrary<Asked> = fc
  .record({
    attributes: arbitrary.attributes,
    place,
    special: fc.oneof({ weight: 14, arbitrary: fc.constant(null) }, made),
    in: fc.option(namespace, { freq: 2 }),
  })
  .map(({ attributes, place, special, in: namespace }) => {
    const target = place ? targetOf(place, OPTIONS) : ({ type: 'Management' } as const)
    const at = { ...(place && { place }) }
    if (attributes.kind === 'nonresource') return { attributes: { ...attributes, target }, ...at }
    const moved = {
      ...attributes,
      ...(namespace !== null && { namespace }),
      target,
      ...(!place && special),
    } as Attributes
    return { attributes: moved, ...at }
  })

/** Scopes with broad lines, of which a key uses a part. */
const broad: fc.Arbitrary<Scope> = fc.constantFrom<Scope>(
  { rules: [{}] },
  { projects: [{ project: '*' }] },
  { clusters: [{ cluster: '*' }], virtualClusters: [{ project: 'a', virtualCluster: '*' }] },
  { clusters: [{ cluster: 'a' }, { cluster: 'b' }], rules: [{ requestTargets: ['Management'] }] },
  { spaces: [{ project: 'a', space: '*' }], rules: [{ verbs: ['get', 'list', 'create'] }] },
  { rules: [{ requestTargets: ['Management'] }, { cluster: 'a' }, { virtualClusters: [{ namespace: 'p-a' }] }] },
  { rules: [{ resources: [{}, { group: 'management.platform' }], requestTargets: ['ProjectSpace', 'Management'] }] },
  { rules: [{ verbs: ['*'], namespaces: ['p-a', 'default', ''] }, { nonResourceURLs: ['*'] }] },
  { roles: [{ role: 'agent' }, { role: 'runner' }], clusters: [{ cluster: 'a' }, { cluster: '*' }] },
)
export const scope = fc.oneof(
  arbitrary.scope,
  fc.tuple(broad, arbitrary.scope).map(([one, other]) => joined(one, other)),
)

const joined = (one: Scope, other: Scope): Scope => {
  const lists = Object.keys({ ...one, ...other }).map((list) => {
    const [a, b] = [one[list as keyof Scope], other[list as keyof Scope]]
    return [list, Array.isArray(a) && Array.isArray(b) ? [...a, ...b] : (a ?? b)]
  })
  return Object.fromEntries(lists)
}

export interface Case {
  scope: Scope | undefined
  inherited: ScopeChain
  usage: Usage
  options: typeof OPTIONS & { inherited: ScopeChain }
}

const day = fc.constantFrom('2026-10-01', '2026-11-01', '2026-11-20')

/** What a key with this scope did: only what its chain allows is recorded. */
const caseOf = (some: fc.Arbitrary<Scope | undefined>, mayManageKeys: boolean): fc.Arbitrary<Case> =>
  fc
    .record({
      scope: some,
      inherited: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(scope, { maxLength: 1 })),
      requests: fc.array(fc.tuple(asked, day), { maxLength: 12 }),
      accepted: fc.array(fc.tuple(fc.constantFrom(...PLACES), day), { maxLength: 3 }),
      silent: fc.oneof(fc.constant<UsedPlace[]>([]), fc.subarray([...PLACES])),
    })
    .map(({ scope, inherited, requests, accepted, silent }) => {
      const chain = scope ? [...inherited, scope] : inherited
      const entries = requests.flatMap(([{ attributes, place }, day]) => {
        if (!judgeEntry(chain, { attributes, ...(place && { place }) }, OPTIONS).allowed) return []
        const entry = usedEntry(chain, attributes, place, OPTIONS)
        return entry && (mayManageKeys || !managesKeys(entry)) ? [{ entry, day }] : []
      })
      const never = new Set(silent.map(textOf))
      const usage: Usage = {
        entries,
        accepted: accepted.map(([place, day]) => ({ place, day })).filter(({ place }) => accepts(chain, place)),
        isIncomplete: false,
        asked: (place) => (never.has(textOf(place)) || place.name === 'unheard-of' ? undefined : '2026-11-20'),
        days: 30,
      }
      return { scope, inherited, usage, options: { ...OPTIONS, inherited } }
    })

export const textOf = (place: UsedPlace): string =>
  JSON.stringify([place.type, place.name, 'namespace' in place && place.namespace])
const withUid = (place: UsedPlace) => (place.type === 'cluster' ? place : { ...place, uid: 'u' })
export const accepts = (chain: ScopeChain, place: UsedPlace): boolean =>
  acceptsKeys(chain, withUid(place), OPTIONS) || acceptsKeysOfSpaces(chain, withUid(place))

export const scoped = caseOf(scope, false) as fc.Arbitrary<Case & { scope: Scope }>
export const anyKey = caseOf(fc.option(scope, { nil: undefined, freq: 4 }), true)
export const unscoped = caseOf(fc.constant(undefined), false)

export const grantIn = (chain: ScopeChain, entry: UsedEntry) => judgeEntry(chain, entry, OPTIONS)
