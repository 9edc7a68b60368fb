/** What is looked for and never there. Source: k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1. */
import { groupVersion } from '../../../meta/groupversion.ts'
import { object } from '../../../meta/schema/schema.ts'
import type { ServedKind } from '../../../registry/kind.ts'

/**
 * No kind of this API is defined by a custom resource. Terraform's provider for Kubernetes looks a kind up among the
 * definitions before it asks OpenAPI, and gives up where they cannot be listed. kopf does where they cannot be watched.
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
  description: 'None: all kinds of this API are built in.',
  schema: { spec: object('Nothing.', {}) },
}

/** Where they are listed, below the base. */
export const definitionsPath = `/apis/${groupVersion(CustomResourceDefinition)}/${CustomResourceDefinition.plural}`
