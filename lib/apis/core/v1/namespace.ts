/**
 * Namespace: every DNS label names one, so none is ever made. Source: k8s.io/api/core/v1, k8s.io/kubernetes
 * pkg/apis/core/validation (ValidateNamespaceName).
 */
import { alreadyExists, generatedNameExists, invalidObject } from '../../../meta/errors/status.ts'
import { labelNames, validateMeta } from '../../../meta/object/validate.ts'
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
  description: 'A namespace. Every valid name is one that exists.',
  schema: {
    spec: object('Desired state of the namespace.', {
      finalizers: list('What must happen before the namespace goes.', string('A finalizer.')),
    }),
    status: object('Observed state of the namespace.', { phase: string('Where the namespace is in its life.') }),
  },
  protobuf: {
    1: {
      name: 'metadata',
      type: 'message',
      fields: { 1: { name: 'name', type: 'string' }, 2: { name: 'generateName', type: 'string' } },
    },
  },
  /** Throws 422 for a name that no namespace can have, else 409: `helm install --create-namespace` takes that for success. */
  async create({ object: namespace }) {
    const { name = '', generateName = '' } = namespace.metadata
    // What would be generated is as valid as any name that begins so.
    const metadata = { ...namespace.metadata, name: name || (generateName && `${generateName}x`) }
    const errors = validateMeta(metadata, { namespaced: false }, labelNames)
    if (errors.length > 0) throw invalidObject('', 'Namespace', name, errors)
    throw name ? alreadyExists(resource, name) : generatedNameExists(alreadyExists(resource, generateName))
  },
}
