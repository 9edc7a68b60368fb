/** Defines the schema of OwnedAccessKeyUsage. */
import { scopeSchema } from '../access/scopes/scope.ts'
import { boolean, list, object, string, time } from '../engine/meta/schema/schema.ts'

const day = (what: string) => string(`${what}, as 2026-11-26 (UTC).`)

export const status = object('Observed usage of the access key.', {
  recording: boolean('Whether the deployment records usage.'),
  since: time('Time from which the usage of this key is recorded. Absent if it is not known yet.'),
  complete: boolean('Whether entries is complete. If false, the key did more than is recorded.'),
  refusedMore: boolean('Whether the scopes refused more kinds of requests than entries has. Absent if not.'),
  entries: list(
    'Requests of the key, the newest first, then those that its scopes refused. Requests that differ only in the name of the object are one entry, unless the scopes tell names apart. Requests that every scope allows, such as discovery, are left out.',
    object('Requests of one kind.', {
      request: string('The requests in words.'),
      scope: {
        ...scopeSchema,
        description: 'The exact scope entry that allows them. Absent if no rule is that narrow.',
      },
      lastUsed: day('Last day of such a request'),
      refused: boolean(
        'Whether the scopes of the key refused the requests: the key asked for them and did not get them. Such an entry has no scope, and advice never contains it. Absent if they allowed them.',
      ),
    }),
  ),
  clusters: list(
    'The connected and virtual clusters in which the key was used, or that accepted it.',
    object('A cluster.', {
      name: string('clusters/NAME or virtualclusters/NAMESPACE/NAME.'),
      lastAccepted: day('Last day on which it accepted the key by a TokenReview'),
      lastAsked: day(
        'Last day on which it asked about a request of this key, by a SubjectAccessReview. Absent if the use of the key there is unknown',
      ),
    }),
  ),
  lines: list(
    'The lines of the scopes of the key, including inherited ones.',
    object('A line.', {
      line: string(
        'The line, such as spec.scope.projects[0]; chain[N] is the scope that the key inherited from its Nth maker.',
      ),
      state: string(
        'Used, Unused or Unknown. Unknown means that the key could use it where nothing is recorded, such as in a cluster that never asked about the key.',
      ),
      lastUsed: day('Last day of a request that the line allows by itself'),
    }),
  ),
  advice: object('A smaller scope, which still allows everything in entries.', {
    scope: { ...scopeSchema, description: 'The scope. Absent if there is none, or if it is withheld.' },
    removed: list('The entries of spec.scope that the smaller scope leaves out.', string('An entry, as YAML.')),
    added: list('The entries that the smaller scope has instead.', string('An entry, as YAML.')),
    unknowns: list(
      'Reasons why a smaller scope could refuse requests that the key needs.',
      object('What is not known.', {
        reason: string('Incomplete, Unused, ClusterNeverAsks or MakesKeys.'),
        message: string('Explanation, in English.'),
        withholds: boolean('Whether no scope is advised for this reason.'),
      }),
    ),
  }),
  findings: list(
    'Other ways to improve the key.',
    object('A finding.', {
      type: string('NeverExpires, ManyAddresses, Unused or NoScope.'),
      message: string('Explanation, and what to do.'),
    }),
  ),
})
