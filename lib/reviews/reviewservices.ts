/** Declares the services that the reviews use. `lib/server/server.ts` implements them. */

import type { Attributes, Decision } from '../access/attributes/attributes.ts'
import type { Place } from '../access/scopes/place.ts'
import type { ScopeOptions } from '../access/scopes/project.ts'
import type { ScopeChain } from '../access/scopes/scope.ts'
import type { SpaceOptions } from '../access/scopes/space.ts'
import type { RequestContext } from '../engine/registry/kind.ts'
import type { KeyHash } from '../keys/credential/pepper.ts'
import type { Asked, Purpose, Verdict } from '../keys/requests/admit.ts'
import type { Authentication, LivingKey } from '../keys/requests/authenticate.ts'
import type { Services } from '../keys/services.ts'
import type { UsageRecorder } from '../keys/usage/recorder.ts'
import type { Judgement } from '../keys/values/judge.ts'

/** What a review compares a token with. */
interface ReviewedKey {
  /** The current scopes. */
  chain: ScopeChain
  generation?: number
  /** Unix seconds. Tokens that were issued before it are invalid. */
  tokensNotBefore?: number
}

export interface ReviewServices {
  scopes: ScopeOptions & SpaceOptions
  /** Issuer of this service's tokens: their audiences begin with it. */
  issuer: string
  /** Decides whether the user may perform a request: by scope chain, then groups, then ownership and access rules. */
  decide(context: RequestContext, attributes: Attributes): Promise<Decision>
  /** Authenticates a token. Without `writes`, the reuse of an ended value is not recorded. */
  authenticate(token: string, options?: { writes: boolean }): Promise<Authentication>
  /** Judges an authenticated key, confirms that it gives access, and records its use, as the purpose demands. */
  admit(living: LivingKey, asked: Asked, purpose: Purpose): Promise<Verdict>
  /**
   * Returns what the access key with this name and uid allows now; undefined if it no longer gives access, or its tokens do not at the
   * place. Makes one consistent read, and another for a key that an exchange made.
   */
  reviewedKey(key: { name: string; uid: string }, place: Place | undefined): Promise<ReviewedKey | undefined>
  /** Records what clusters ask about keys. */
  usage: UsageRecorder
  /** Returns the uid of a virtual cluster instance, or undefined if it does not exist. */
  instanceUid(reference: { namespace: string; name: string }): Promise<string | undefined>
}

/** Reports whether a review is of a cluster, which lets the key act. For an administrator, and in a dry run, it is a question and no use. */
export const isOfCluster = ({ user, dryRun }: Pick<RequestContext, 'user' | 'dryRun'>): boolean =>
  user.mayReview === true && !dryRun

export interface SelfServices extends Services {
  /** The ARN of the role that access entries of clusters of Amazon EKS name. Absent if the server is no deployment. */
  clustersRole: string | undefined
}

export interface AccessReviewServices extends Services, Pick<ReviewServices, 'decide' | 'reviewedKey'> {
  scopes: ReviewServices['scopes']
  /** Judges the value with this hash as for a request with it. */
  judgeValue(hash: KeyHash): Promise<Judgement>
  /** Returns the path of a request as scopes see it: without the base path. */
  pathBelowBase(path: string): string
}
