/** Defines the schemas that all kinds share: metadata, lists, Status and delete options, with their Kubernetes names. */

import { FIELD } from '../meta/program.ts'
import { objectMetaSchema } from '../meta/schema/objectmeta.ts'
import { boolean, int32, int64, list, type ObjectSchema, object, string } from '../meta/schema/schema.ts'
import type { JsonObject } from '../meta/types.ts'
import { openApiSchema } from './openapischema.ts'

const PREFIX = 'io.k8s.apimachinery.pkg.apis.meta.v1'

type SharedSchema = 'ObjectMeta' | 'ListMeta' | 'Status' | 'DeleteOptions'

/** Returns a reference to a shared schema. */
export const sharedRef = (name: SharedSchema): JsonObject => ({ $ref: `#/components/schemas/${PREFIX}.${name}` })

const listMeta = object('Metadata of a list.', {
  resourceVersion: string('Version of the list, from which a watch can start.'),
  continue: string('Token for the next page; empty on the last page.'),
  remainingItemCount: int64('Number of objects after this page, if known.'),
})

const cause = object('One cause of a failure.', {
  reason: string('Machine-readable description of the cause.'),
  message: string('Human-readable description of the cause.'),
  field: string(`Field that caused the failure, such as ${FIELD}.`),
})

const type = {
  apiVersion: string('Version of this representation: v1.'),
  kind: string('Kind of this representation.'),
}

const status = object('The response that carries no object: an error, or a successful delete.', {
  ...type,
  metadata: listMeta,
  status: string('Success or Failure.'),
  message: string('Human-readable description of the result.'),
  reason: string('Machine-readable reason of a failure, such as NotFound, Conflict or Invalid.'),
  details: object('Details of the failure.', {
    name: string('Name of the object.'),
    group: string('API group of the object.'),
    kind: string('Kind or resource of the object.'),
    uid: string('UID of the object.'),
    causes: list('Causes of the failure.', cause),
    retryAfterSeconds: int32('Seconds to wait before a retry.'),
  }),
  code: int32('HTTP status code.'),
})

const deleteOptions = object('Options of a delete.', {
  ...type,
  dryRun: list('All validates the request and deletes nothing.', string('All.')),
  gracePeriodSeconds: int64('Ignored: deletion is immediate.'),
  orphanDependents: boolean('Keeps dependents.', { deprecated: 'propagationPolicy' }),
  preconditions: object('Conditions that the object must meet.', {
    uid: string('UID of the object.'),
    resourceVersion: string('Version of the object.'),
  }),
  propagationPolicy: string('How dependents are deleted: Foreground, Background or Orphan.'),
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
