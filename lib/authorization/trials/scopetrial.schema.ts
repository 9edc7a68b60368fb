/** Defines the fields of a trial of a scope. */

import { boolean, int64, list, object, string, time } from '../../meta/schema/schema.ts'
import { scopeSchema } from '../scopes/scope.ts'

export const dropAddedScopes = boolean(
  'Drops the scopes of status.addedScopes, in a write that changes nothing else of spec. Only an access key without a scope may do that. It is never stored.',
)

export const addedScopes = list(
  'Scopes that changes with scoped access keys have added to the inherited ones. They limit spec.scope, and spec.dropAddedScopes drops them.',
  scopeSchema,
  { readOnly: true },
)

/** Returns the schema of a trial. `of` names the object that has it, such as `access key`. */
export const scopeTrial = (of: string) =>
  object(
    `A smaller scope that is tried beside spec.scope. Requests that only spec.scope allows still succeed, with a Warning. status.scopeTrial counts them, and the usage of the keys that make them lists them. Set spec.scope to the scope of the trial to make it real: the ${of} keeps its former scope in status.formerScope for 30 days. A change that sets both to the same scope does so without a trial.`,
    {
      scope: { ...scopeSchema, description: 'The scope to try.' },
      until: time('When the trial ends, at most 90 days ahead.'),
      force: boolean('Makes the scope of the trial real even if it would have refused requests. It is never stored.'),
    },
  )

export const scopeTrialStatus = object(
  'Requests that the trial in spec.scopeTrial would have refused.',
  {
    since: time('When the trial began.'),
    until: time('When it ends.'),
    phase: string('Running or Ended.'),
    refusals: int64(
      'How many kinds of requests the trial would have refused, counted over all its keys. The usage of each key lists its own requests.',
    ),
    lastRefused: string('Last day of such a request, as 2026-11-26 (UTC).'),
  },
  { readOnly: true },
)

export const formerScope = object(
  'The scope before another one was made real.',
  {
    scope: { ...scopeSchema, description: 'The scope. Absent if there was none.' },
    replaced: time('When it was replaced.'),
    until: time('How long it is kept here.'),
  },
  { readOnly: true },
)
