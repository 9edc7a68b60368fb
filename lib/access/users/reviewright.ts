/**
 * Decides which scopes have the right to create reviews, and who may create one. A role alone does not give it: everybody may write a role into the scope
 * of a key, but only an administrator says which key is that of a cluster.
 */
import type { Attributes, Decision } from '../attributes/attributes.ts'
import { containsChain, isSameScope } from '../scopes/chain.ts'
import type { ScopeOptions } from '../scopes/project.ts'
import { hasReviews, isReview, roleGrants } from '../scopes/roles.ts'
import type { Scope, ScopeChain } from '../scopes/scope.ts'
import { isMaster } from './identity.ts'
import type { UserInfo } from './user.ts'

/** What is stored of the right, with a key, or with a trust for the keys of its exchanges. */
export interface ReviewRight {
  /** The scope that has the right. It must be in the chain, so no writer who does not know this member can move the right. */
  reviewScope?: Scope
}

/**
 * Returns the right of what the user writes with this scope, in place of `before`. A scope that stays keeps it. Another one has it
 * only if an administrator without a scope wrote both the role and where it may review: what was there before may be another's.
 */
export function rightOf(
  user: UserInfo,
  scope: Scope | undefined,
  before?: ReviewRight & { scope: Scope | undefined },
): ReviewRight {
  const { reviewScope } = before ?? {}
  if (before && isSameScope(before.scope, scope)) return reviewScope ? { reviewScope } : {}
  const isWriter = isMaster(user) && user.chain.length === 0
  const isWhole = reviewScope !== undefined || !saysWhere(before?.scope)
  return scope && isWriter && isWhole && hasReviews(scope) ? { reviewScope: scope } : {}
}

/** Reports whether the scope has a role for reviews, or an entry that says where such a role may review. */
const saysWhere = (scope: Scope = {}): boolean =>
  hasReviews(scope) ||
  [scope.clusters, scope.virtualClusters, scope.projects, scope.rules].some((list = []) => list.length > 0)

/** Reports whether the scope of a key is the one that has the right: it is the key of a cluster. */
export const isOfCluster = ({ reviewScope }: ReviewRight, scope: Scope | undefined): boolean =>
  reviewScope !== undefined && isSameScope(scope, reviewScope)

/** Reports whether requests with this chain have the right. */
export const holdsRight = ({ reviewScope }: ReviewRight, chain: ScopeChain): boolean =>
  reviewScope !== undefined && containsChain(chain, [reviewScope])

/** How a key gets the right. */
export const WHO_GIVES = 'an administrator without a scope must make the access key of a cluster'

/** Why somebody may not create reviews, in every answer: a cluster shows it to its users, so that a wrong setup explains itself. */
export const NO_RIGHT = `the access key of the caller may not create reviews: ${WHO_GIVES}`

/**
 * Decides whether a user whose scopes allow a review may create it. Returns undefined for other requests. Reviews are the only
 * permission that a role grants, in a scope that has the right to it.
 */
export function mayReview(user: UserInfo, attributes: Attributes, options: ScopeOptions): Decision | undefined {
  if (!isReview(attributes)) return undefined
  if (isMaster(user)) return { allowed: true, reason: 'group system:masters' }
  const held = user.mayReview ? user.chain.flatMap(({ roles = [] }) => roles) : []
  const giving = held.find((entry) => roleGrants(entry, attributes, options) === 'all')
  return giving ? { allowed: true, reason: `role ${giving.role}` } : { allowed: false, reason: NO_RIGHT }
}

/** Returns the warning that the scope of what a user writes has a role for reviews without the right to them, or nothing. */
export const rightWarnings = (what: string, scope: Scope | undefined, { reviewScope }: ReviewRight): string[] =>
  hasReviews(scope) && !reviewScope
    ? [`${what} may not create reviews, although its scope has a role for them: ${WHO_GIVES}`]
    : []
