/**
 * Defines Namespace. Every DNS label names an existing namespace, so none can be created. Source: k8s.io/api/core/v1,
 * k8s.io/kubernetes pkg/apis/core/validation (ValidateNamespaceName).
 */
import { alreadyExists, generatedNameExists, invalidObject } from '../../../meta/errors/status.ts'
import { labelNames, validateMeta } from '../../../meta/object/validatemeta.ts'
import { list, object, string } from '../../../meta/schema/schema.ts'
import type { VirtualKind } from '../../../registry/kind.ts'

const resource = { group: '', resource: 'namespaces' }

export const Namespace: VirtualKind<unknown> = {
  archetype: 'virtual',
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  singular: 'namespace',
  shortNames: ['ns'],
  scope: 'Cluster',
  description: 'A namespace. A namespace exists for every valid name.',
  schema: {
    spec: object('Desired state of the namespace.', {
      finalizers: list('Finalizers that must finish before the namespace is removed.', string('A finalizer.')),
    }),
    status: object('Observed state of the namespace.', { phase: string('Current phase of the namespace.') }),
  },
  protobuf: {
    1: {
      name: 'metadata',
      type: 'message',
      fields: { 1: { name: 'name', type: 'string' }, 2: { name: 'generateName', type: 'string' } },
    },
  },
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
