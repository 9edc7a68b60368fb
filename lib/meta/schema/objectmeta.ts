/** Defines the schema of metadata, which `kubectl explain`, OpenAPI and field ownership use. Specification section 2.2. */
import { boolean, int64, list, map, object, string, time } from './schema.ts'

const ownerReference = object(
  'An object that this one depends on. When all owners are gone, this object is deleted.',
  {
    apiVersion: string('API version of the owner.'),
    kind: string('Kind of the owner.'),
    name: string('Name of the owner.'),
    uid: string('UID of the owner.'),
    controller: boolean('Whether the owner is the managing controller. At most one owner is.'),
    blockOwnerDeletion: boolean(
      'Whether a foreground deletion of the owner waits for this object. Setting it requires permission to delete the owner.',
    ),
  },
  { atomic: true, required: ['apiVersion', 'kind', 'name', 'uid'] },
)

const managedFieldsEntry = object('The fields that one manager owns.', {
  manager: string('The workflow that manages the fields.'),
  operation: string('How the fields came to be owned.', { enum: ['Apply', 'Update'] }),
  apiVersion: string('Group and version of the object that the fields belong to.'),
  time: time('When a field was added, changed or removed by this manager for the last time.'),
  fieldsType: string('Format of the field set.', { enum: ['FieldsV1'] }),
  fieldsV1: object('The field set.', {}),
  subresource: string('Subresource that was written to; empty for the object itself.'),
})

/** Describes an object's `metadata` and the ownership of its fields. object/decodemeta.ts decodes it. */
export const objectMetaSchema = object('Standard metadata of the object.', {
  name: string(
    'Unique among the objects of its kind and namespace. Required unless generateName is given. Never changes.',
  ),
  generateName: string(
    'Prefix of a name that the server completes with five random characters, where no name is given.',
  ),
  namespace: string('Namespace of the object, a DNS label; empty for kinds without namespaces. Never changes.'),
  uid: string('Unique in time and space. Set by the server.'),
  resourceVersion: string(
    'Version of the object, for optimistic locking and watches. Opaque: pass it back as it came. Set by the server.',
  ),
  generation: int64('Number of the desired state; rises with every change of spec. Set by the server.'),
  creationTimestamp: time('When the object was created. Set by the server.'),
  deletionTimestamp: time(
    'When deletion was requested. The object goes when its finalizers are gone. Set by the server.',
  ),
  deletionGracePeriodSeconds: int64('Seconds that the object has to end gracefully. Set by the server.'),
  labels: map('Keys and values to organise and select objects by.', string('A value of at most 63 characters.')),
  annotations: map('Keys and values of tools; at most 256 KiB in all.', string('Any text.')),
  ownerReferences: list('The objects that this one depends on.', ownerReference, { listType: 'map', keys: ['uid'] }),
  finalizers: list('Must be empty before the object is removed.', string('A qualified name.'), { listType: 'set' }),
  managedFields: list('Which manager owns which fields.', managedFieldsEntry),
})
