/** Defines the fields of a trial of a scope. */

import { boolean, list, object, string, time } from '../../meta/schema/schema.ts'
import { scopeSchema } from '../scopes/scope.ts'

/** `of` is what has the scope, in words. */
export const scopeTrial = (of: string) =>
  object(
    `A smaller scope that is tried beside spec.scope. Requests that only spec.scope allows still succeed, with a Warning, and status.scopeTrial lists them. Set spec.scope to the scope of the trial to make it real: the ${of} keeps its former scope in status.formerScope for 30 days. A change that sets both to the same scope does so without a trial.`,
    {
      scope: { ...scopeSchema, description: 'The scope to try.' },
      until: time('When the trial ends, at most 90 days ahead.'),
      force: boolean('Makes the scope of the trial real although it would have refused requests. It is never stored.'),
    },
  )

export const scopeTrialStatus = object(
  'What the trial of spec.scopeTrial would have refused.',
  {
    since: time('When the trial began.'),
    until: time('When it ends.'),
    phase: string('Running or Ended.'),
    refused: list(
      'The requests that only spec.scope allowed, the newest first. The names of objects are left out.',
      object('Requests of one kind.', {
        request: string('The requests in words.'),
        scope: {
          ...scopeSchema,
          description: 'The scope entry that the scope of the trial lacks. Absent if no short one suffices.',
        },
        lastSeen: string('Last day of such a request, as 2026-11-26 (UTC).'),
      }),
    ),
    complete: boolean('Whether refused is complete.'),
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
