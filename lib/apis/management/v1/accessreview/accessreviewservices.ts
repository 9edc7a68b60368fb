/** Declares the services that access reviews of keys use. `lib/server/server.ts` implements them. */
import type { KeyHash } from '../../../../authentication/pepper.ts'
import type { Judgement } from '../../../../authentication/values/judge.ts'
import type { ReviewServices } from '../../../authorization/v1/reviewservices.ts'
import type { Services } from '../services.ts'

export interface AccessReviewServices extends Services, Pick<ReviewServices, 'decide' | 'reviewedKey'> {
  scopes: ReviewServices['scopes']
  /** Judges the value with this hash as for a request with it. */
  judgeValue(hash: KeyHash): Promise<Judgement>
  /** Returns the path of a request as scopes see it: without the base path. */
  pathBelowBase(path: string): string
}
