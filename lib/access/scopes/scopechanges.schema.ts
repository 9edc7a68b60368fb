/** Defines the fields that say what changes of a scope have replaced and added. */
import { boolean, list, object, time } from '../../engine/meta/schema/schema.ts'
import { scopeSchema } from './scope.ts'

export const dropAddedScopes = boolean(
  'Drops the scopes of status.addedScopes, in a write that changes nothing else of spec. Only an access key without a scope may do that. It is never stored.',
)

export const addedScopes = list(
  'Scopes that changes with scoped access keys have added to the inherited ones. They limit spec.scope, and spec.dropAddedScopes drops them.',
  scopeSchema,
  { readOnly: true },
)

export const formerScope = object(
  'The scope that the last change of spec.scope replaced. The server keeps it for 30 days and never applies it: to put it back, set spec.scope to it. Absent if spec.scope did not change in that time.',
  {
    scope: { ...scopeSchema, description: 'The scope. Absent if there was none.' },
    replaced: time('When it was replaced.'),
    until: time('How long it is kept here.'),
  },
  { readOnly: true },
)
