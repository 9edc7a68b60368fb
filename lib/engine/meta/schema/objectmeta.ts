/** Defines the schema of metadata, which `kubectl explain`, OpenAPI and field ownership use. Specification section 2.2. */
import { boolean, int64, list, map, object, string, time } from './schema.ts'

const ownerReference = object(
  'An object that this object depends on. When all owners are gone, this object is deleted.',
  {
    apiVersion: string('API version of the owner.'),
    kind: string('Kind of the owner.'),
    name: string('Name of the owner.'),
    uid: string('UID of the owner.'),
    controller: boolean('Whether the owner is the managing controller. At most one owner can be.'),
    blockOwnerDeletion: boolean(
      'Whether a foreground deletion of the owner waits for this object. Setting it requires permission to delete the owner.',
    ),
  },
  { atomic: true, required: ['apiVersion', 'kind', 'name', 'uid'] },
)

const managedFieldsEntry = object('The fields that one manager owns.', {
  manager: string('Name of the manager.'),
  operation: string('Operation by which the manager owns the fields.', { enum: ['Apply', 'Update'] }),
  apiVersion: string('Group and version of the fields.'),
  time: time('Time when this manager last added, changed or removed a field.'),
  fieldsType: string('Format of the field set.', { enum: ['FieldsV1'] }),
  fieldsV1: object('The field set.', {}),
  subresource: string('Subresource that the manager writes; empty for the object itself.'),
})

/** Describes an object's `metadata` and the ownership of its fields. object/decodemeta.ts decodes it. */
export const objectMetaSchema = object('Standard metadata of the object.', {
  name: string(
    'Name of the object, unique for its kind and namespace. Required unless generateName is set. Cannot be changed.',
  ),
  generateName: string('Prefix of a generated name, used if name is empty. The server appends five random characters.'),
  namespace: string('Namespace of the object, a DNS label; empty for cluster-scoped kinds. Cannot be changed.'),
  uid: string('Unique ID of the object, never used again. Set by the server.'),
  resourceVersion: string(
    'Version of the object, for optimistic locking and watches. Clients must pass it back unmodified. Set by the server.',
  ),
  generation: int64(
    'Sequence number of the desired state, which increases with every change of spec. Set by the server.',
  ),
  creationTimestamp: time('Time when the object was created. Set by the server.'),
  deletionTimestamp: time(
    'Time when deletion was requested. The object is removed when it has no finalizers. Set by the server.',
  ),
  deletionGracePeriodSeconds: int64('Seconds for graceful termination, always 0. Set by the server.'),
  labels: map('Key-value pairs to organize and select objects.', string('A value of at most 63 characters.')),
  annotations: map('Key-value pairs for tools; at most 256 KiB in total.', string('Any text.')),
  ownerReferences: list('The objects that this one depends on.', ownerReference, { listType: 'map', keys: ['uid'] }),
  finalizers: list('Names that must all be removed before the object is removed.', string('A qualified name.'), {
    listType: 'set',
  }),
  managedFields: list('Fields that each manager owns.', managedFieldsEntry),
})
