/** What the reviews need of the rest of the server; made in server/reviews.ts. */
import type { Attributes, Decision } from '../../../authorization/attributes.ts'
import type { RequestContext } from '../../../registry/kind.ts'

export const group = 'authorization.k8s.io'
export const version = 'v1'

export interface ReviewServices {
  /** Plural names of this API's cluster-scoped resources. */
  clusterScoped: ReadonlySet<string>
  /** Whether the user of this request may do that here: scope chain, then groups, then ownership and access rules. */
  decide(context: RequestContext, attributes: Attributes): Promise<Decision>
}
