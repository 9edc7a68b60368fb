/** Defines the schema of OwnedAccessKeyUsage. */
import { scopeSchema } from '../../../../authorization/scopes/scope.ts'
import { boolean, list, object, string, time } from '../../../../meta/schema/schema.ts'

const day = (what: string) => string(`${what}, as 2026-11-26 (UTC).`)

export const status = object('What the access key did.', {
  recording: boolean('Whether the deployment records usage.'),
  since: time('Time from which the usage of this key is recorded. Absent if that is not known yet.'),
  complete: boolean('Whether entries is complete. If false, the key did more than is recorded.'),
  entries: list(
    'What the key did, the newest first. Requests that differ only in the name of the object are one entry, unless the scopes tell names apart. What every scope allows, such as discovery, is left out.',
    object('Requests of one kind.', {
      request: string('The requests in words.'),
      scope: {
        ...scopeSchema,
        description: 'The exact scope entry that allows them. Absent if no rule is that narrow.',
      },
      lastUsed: day('Last day of such a request'),
      refusedBy: list(
        'Which trials of scopes would refuse them: Own, that of the key, or Inherited, that of a key or trust that made it.',
        string('Own or Inherited.'),
      ),
    }),
  ),
  clusters: list(
    'The connected and virtual clusters in which the key was used, or that accepted it.',
    object('A cluster.', {
      name: string('clusters/NAME or virtualclusters/NAMESPACE/NAME.'),
      lastAccepted: day('Last day on which it accepted the key by a TokenReview'),
      lastAsked: day(
        'Last day on which it asked about a request of this key, by a SubjectAccessReview. Absent: what the key does there is not known',
      ),
    }),
  ),
  lines: list(
    'The lines of the scopes of the key, with those that it inherited.',
    object('A line.', {
      line: string(
        'The line, such as spec.scope.projects[0]; chain[N] is the scope that the key inherited from its Nth maker.',
      ),
      state: string(
        'Used; Unused; Unknown: it could be used where nothing is recorded, such as in a cluster that never asked about the key.',
      ),
      lastUsed: day('Last day of a request that the line allows by itself'),
    }),
  ),
  advice: object('A smaller scope, under which everything in entries stays allowed.', {
    scope: { ...scopeSchema, description: 'The scope. Absent if there is none, or if it is withheld.' },
    removed: list('The entries of spec.scope that it leaves out.', string('An entry, as YAML.')),
    added: list('The entries that it has instead.', string('An entry, as YAML.')),
    unknowns: list(
      'What cannot be known.',
      object('A reason for doubt.', {
        reason: string('A word for programs.'),
        message: string('What is not known.'),
        withholds: boolean('Whether no scope is advised because of it.'),
      }),
    ),
  }),
  findings: list(
    'What else could be better about the key.',
    object('A finding.', {
      type: string('NeverExpires, ManyAddresses, Unused or NoScope.'),
      message: string('What it is, and what to do.'),
    }),
  ),
})
