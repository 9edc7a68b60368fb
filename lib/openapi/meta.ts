/** Defines the schemas that all kinds share: metadata, lists, Status and delete options, with their Kubernetes names. */
import { objectMetaSchema } from '../meta/schema/objectmeta.ts'
import { boolean, int32, int64, list, type ObjectSchema, object, string } from '../meta/schema/schema.ts'
import type { JsonObject } from '../meta/types.ts'
import { openApiSchema } from './openapischema.ts'

const PREFIX = 'io.k8s.apimachinery.pkg.apis.meta.v1'

export type SharedSchema = 'ObjectMeta' | 'ListMeta' | 'Status' | 'DeleteOptions'

/** Returns a reference to a shared schema. */
export const sharedRef = (name: SharedSchema): JsonObject => ({ $ref: `#/components/schemas/${PREFIX}.${name}` })

const listMeta = object('Metadata of a list.', {
  resourceVersion: string('Version of the list; a watch may start from it.'),
  continue: string('Token for the next page; empty on the last one.'),
  remainingItemCount: int64('How many objects follow this page, where that is known.'),
})

const cause = object('One reason of a failure.', {
  reason: string('Kind of the reason, for programs.'),
  message: string('The reason, for people.'),
  field: string('The field it is about: spec.scope.roles[0].role.'),
})

const type = {
  apiVersion: string('Version of this representation: v1.'),
  kind: string('Kind of this representation.'),
}

const status = object('The answer to everything that is not an object: errors, and successful deletes.', {
  ...type,
  metadata: listMeta,
  status: string('Success or Failure.'),
  message: string('What happened, for people.'),
  reason: string('Why it failed, for programs: NotFound, Conflict, Invalid and others.'),
  details: object('More about the failure.', {
    name: string('Name of the object.'),
    group: string('API group of the object.'),
    kind: string('Kind or resource of the object.'),
    uid: string('UID of the object.'),
    causes: list('All reasons of the failure.', cause),
    retryAfterSeconds: int32('When to try again.'),
  }),
  code: int32('HTTP status code.'),
})

const deleteOptions = object('How to delete.', {
  ...type,
  dryRun: list('All: check everything, delete nothing.', string('All.')),
  gracePeriodSeconds: int64('Without effect: these objects end at once.'),
  orphanDependents: boolean('Keep dependents.', { deprecated: 'propagationPolicy' }),
  preconditions: object('What the object must still be.', {
    uid: string('Its UID.'),
    resourceVersion: string('Its version.'),
  }),
  propagationPolicy: string('What becomes of dependents: Orphan, Background or Foreground.'),
})

const schemas: Readonly<Record<SharedSchema, ObjectSchema>> = {
  ObjectMeta: objectMetaSchema,
  ListMeta: listMeta,
  Status: status,
  DeleteOptions: deleteOptions,
}

/** Returns the shared schemas for `components.schemas`. */
export const sharedSchemas = (): JsonObject =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [`${PREFIX}.${name}`, openApiSchema(schema)]))
