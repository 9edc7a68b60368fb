/** Defines the schema of OwnedAccessKeyAccessReview. */
import { scopeSchema } from '../access/scopes/scope.ts'
import { boolean, list, object, string } from '../engine/meta/schema/schema.ts'
import { nonResourceAttributes, resourceAttributes as withSelectors } from './attributes.schema.ts'

const { fieldSelector: _, labelSelector: __, ...members } = withSelectors.properties

const inProject = (what: string) =>
  object(what, { project: string('Name of the project.'), name: string('Its name in the project.') })

export const spec = object(
  'The request to review. Exactly one of resourceAttributes and nonResourceAttributes is set.',
  {
    resourceAttributes: object('A request for a resource.', members),
    nonResourceAttributes,
    target: object('Where the request is made. Absent means this API.', {
      cluster: string('Name of a connected cluster.'),
      virtualCluster: inProject('A virtual cluster.'),
      space: inProject('A space, in every connected cluster.'),
    }),
    sourceIP: string('The address from which the request is made. Without it, source addresses are not checked.'),
  },
)

const step = object('A check of the decision.', {
  check: string(
    'life (whether the key gives access), source (its source addresses), scope, or rights (groups, ownership and access rules).',
    { enum: ['life', 'source', 'scope', 'rights'] },
  ),
  allowed: boolean('Whether the request passes the check. Absent if the check could not be made.'),
  entry: { ...scopeSchema, description: 'The exact scope entry that would allow the request, if one suffices.' },
  reason: string('Why.'),
})

export const status = object('Result of the review.', {
  allowed: boolean(
    'Whether the request would be allowed. With a target, whether this API does not deny the request to the cluster.',
  ),
  reason: string('Why the request would be allowed, or the reason of the first check that refuses it.'),
  steps: list('The checks, in the order of the real decision.', step),
})
