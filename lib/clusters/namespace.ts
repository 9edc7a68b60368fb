/**
 * Defines Namespace. Every DNS label names an existing namespace, so none can be created or changed. Source: k8s.io/api/core/v1,
 * k8s.io/kubernetes pkg/apis/core/validation (ValidateNamespaceName), pkg/printers/internalversion (printNamespace).
 */

import { createHash } from 'node:crypto'
import { alreadyExists, generatedNameExists, invalidObject } from '../engine/meta/errors/status.ts'
import { labelNames, validateMeta } from '../engine/meta/object/validatemeta.ts'
import { list, object, string } from '../engine/meta/schema/schema.ts'
import type { KubeObject } from '../engine/meta/types.ts'
import { column } from '../engine/registry/column.ts'
import type { Column, VirtualKind } from '../engine/registry/kind.ts'
import { message, textFields } from '../engine/registry/protobuf.ts'

const resource = { group: '', resource: 'namespaces' }

const columns = [column('Status', 'status.phase', 'Current phase of the namespace.')]

export const Namespace: VirtualKind<unknown> & { columns: readonly Column[] } = {
  archetype: 'virtual',
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  singular: 'namespace',
  shortNames: ['ns'],
  scope: 'Cluster',
  description: 'A namespace. A namespace exists for every valid name.',
  verbs: ['create', 'get', 'list', 'patch', 'update', 'watch'],
  patchTypes: [
    'application/json-patch+json',
    'application/merge-patch+json',
    'application/strategic-merge-patch+json',
    'application/apply-patch+yaml',
  ],
  columns,
  schema: {
    spec: object('Desired state of the namespace.', {
      finalizers: list('Finalizers that must finish before the namespace is removed.', string('A finalizer.')),
    }),
    status: object('Observed state of the namespace.', { phase: string('Current phase of the namespace.') }),
  },
  protobuf: { 1: message('metadata', textFields('name', 'generateName')) },
  /** Throws 422 for an invalid name, otherwise 409, which `helm install --create-namespace` treats as success. */
  async create({ object: namespace }) {
    const { name = '', generateName = '' } = namespace.metadata
    // A generated name is as valid as any other name with the same prefix.
    const metadata = { ...namespace.metadata, name: name || (generateName && `${generateName}x`) }
    const errors = validateMeta(metadata, { namespaced: false }, labelNames)
    if (errors.length > 0) throw invalidObject('', 'Namespace', name, errors)
    throw name ? alreadyExists(resource, name) : generatedNameExists(alreadyExists(resource, generateName))
  },
}

/** Returns the same UUID (version 5, RFC 9562) for the same name in the same deployment, and another in another deployment. */
function uidOf(name: string, issuer: string): string {
  const digest = createHash('sha1').update(URL_NAMESPACE).update(`${issuer}/api/v1/namespaces/${name}`).digest()
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x50, 6)
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8)
  return digest.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

const URL_NAMESPACE = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex')

/** Namespaces have always existed: nothing records when one was first used. */
const CREATED = '1970-01-01T00:00:00Z'

/** Returns the Namespace of a DNS label. It never changes. kubectl requests it after a 404 in that namespace. */
export const namespaceObject = (name: string, issuer: string): KubeObject => ({
  kind: 'Namespace',
  apiVersion: 'v1',
  metadata: {
    name,
    uid: uidOf(name, issuer),
    resourceVersion: '1',
    creationTimestamp: CREATED,
    labels: { 'kubernetes.io/metadata.name': name },
  },
  spec: { finalizers: ['kubernetes'] },
  status: { phase: 'Active' },
})
