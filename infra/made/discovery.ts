/** The documents of discovery. */

import { Namespace } from '../../lib/clusters/namespace.ts'
import type { DiscoveryOutput } from '../../lib/engine/endpoints/negotiation/accept.ts'
import { stringify } from '../../lib/engine/meta/encoding/json.ts'
import type { JsonObject } from '../../lib/engine/meta/types.ts'
import type { ServedKind } from '../../lib/engine/registry/kind.ts'
import { CustomResourceDefinition } from '../../lib/server/documents/customresourcedefinition.ts'
import { kinds } from '../../lib/server/servedkinds.ts'
import { aggregatedGroups, apiResourceList, discoveryDocuments } from '../documents/discovery.ts'
import { contentHash } from '../documents/openapi.ts'

const listed: readonly ServedKind[] = [...kinds, CustomResourceDefinition]

/** The plain documents at /apis and below, and below /api, by path. */
export const documents: Readonly<Record<string, JsonObject>> = {
  ...discoveryDocuments(listed),
  '/api/v1': apiResourceList('v1', [Namespace]),
}

const versionsOf = (own: readonly ServedKind[]) => {
  const inVersion = (version: DiscoveryOutput['version']) => {
    const value = aggregatedGroups(own, version)
    return { value, etag: `"${contentHash(stringify(value))}"` }
  }
  return { v2: inVersion('v2'), v2beta1: inVersion('v2beta1') }
}

/** The aggregated documents. */
export const aggregated = { '/api': versionsOf([Namespace]), '/apis': versionsOf(listed) }
