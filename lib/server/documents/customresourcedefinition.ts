/**
 * Serves an empty list of custom resource definitions, because some clients require one. Source:
 * k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.
 */
import { groupVersion } from '../../engine/meta/groupversion.ts'
import { object } from '../../engine/meta/schema/schema.ts'
import type { ServedKind } from '../../engine/registry/kind.ts'

/**
 * No kind of this API is a custom resource. Terraform's Kubernetes provider looks up a kind in this list before it reads
 * OpenAPI, and fails if it cannot list the definitions. kopf fails if it cannot watch them.
 */
export const CustomResourceDefinition: ServedKind = {
  archetype: 'absent',
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  singular: 'customresourcedefinition',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  scope: 'Cluster',
  description: 'A custom resource definition. The list is always empty: all kinds of this API are built in.',
  schema: { spec: object('Always empty.', {}) },
}

/** Path of the collection below the base path. */
export const definitionsPath = `/apis/${groupVersion(CustomResourceDefinition)}/${CustomResourceDefinition.plural}`
