/** Makes all documents of OpenAPI for kinds. */
import type { OpenApiDocuments } from '../endpoints/discovery/openapi.ts'
import type { ServedKind } from '../registry/kind.ts'
import { verbsOf } from './discovery.ts'
import { type OpenApiInfo, openApi } from './openapi.ts'
import { openApiV2 } from './v2.ts'

/** Returns what is served below /openapi. */
export function openApiDocuments(kinds: readonly ServedKind[], info: OpenApiInfo): OpenApiDocuments {
  const described = kinds.map((kind) => ({ ...kind, verbs: verbsOf(kind) }))
  return { ...openApi(described, info), v2: openApiV2(described, info) }
}
