/** The documents of discovery. The build evaluates this module: functions contain its exports in place of the kinds. */
import { CustomResourceDefinition } from '../../apis/apiextensions/v1/customresourcedefinition.ts'
import { Namespace } from '../../apis/core/v1/namespace.ts'
import { kinds } from '../../apis/index.ts'
import { aggregatedGroups, apiResourceList, discoveryDocuments } from '../../endpoints/discovery.ts'
import type { DiscoveryOutput } from '../../endpoints/negotiation/accept.ts'
import { stringify } from '../../meta/encoding/json.ts'
import type { JsonObject } from '../../meta/types.ts'
import { etagOf } from '../../openapi/etag.ts'
import type { ServedKind } from '../../registry/kind.ts'

const listed: readonly ServedKind[] = [...kinds, CustomResourceDefinition]

/** The plain documents at /apis and below, and below /api, by path. */
export const documents: Readonly<Record<string, JsonObject>> = {
  ...discoveryDocuments(listed),
  '/api/v1': apiResourceList('v1', [Namespace]),
}

const versionsOf = (own: readonly ServedKind[]) => {
  const inVersion = (version: DiscoveryOutput['version']) => {
    const value = aggregatedGroups(own, version)
    return { value, etag: etagOf(stringify(value)) }
  }
  return { v2: inVersion('v2'), v2beta1: inVersion('v2beta1') }
}

/** The aggregated documents. */
export const aggregated = { '/api': versionsOf([Namespace]), '/apis': versionsOf(listed) }
