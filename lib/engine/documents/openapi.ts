/**
 * Builds the OpenAPI v3 documents: one for each group version, and the index that lists them with their hashes.
 * Source: k8s.io/kube-openapi/pkg/handler3, k8s.io/client-go/openapi.
 */

import { stringify } from '../meta/encoding/json.ts'
import { groupVersion } from '../meta/groupversion.ts'
import { CREDENTIAL } from '../meta/program.ts'
import { isRequired } from '../meta/schema/validate.ts'
import type { JsonObject } from '../meta/types.ts'
import { byBytes } from '../meta/value/byteorder.ts'
import { contentHash } from './contenthash.ts'
import { sharedRef, sharedSchemas } from './meta.ts'
import { openApiSchema } from './openapischema.ts'
import { groupPath, gvkOf, type OpenApiKind, pathsOf, schemaName } from './paths.ts'

const typeProperties = (apiVersion: string, kind: string): JsonObject => ({
  apiVersion: { type: 'string', description: `Version of this representation: ${apiVersion}.` },
  kind: { type: 'string', description: `Kind of this representation: ${kind}.` },
})

function kindSchema(kind: OpenApiKind): JsonObject {
  const { spec, status } = kind.schema
  return {
    type: 'object',
    description: kind.description,
    properties: {
      ...typeProperties(groupVersion(kind), kind.kind),
      metadata: { description: 'Standard metadata of the object.', allOf: [sharedRef('ObjectMeta')] },
      ...(spec && { spec: openApiSchema(spec) }),
      ...(status && { status: openApiSchema(status) }),
    },
    ...(isRequired(spec) && { required: ['spec'] }),
    'x-kubernetes-group-version-kind': [gvkOf(kind)],
  }
}

const listSchema = (kind: OpenApiKind): JsonObject => ({
  type: 'object',
  description: `A list of ${kind.plural}.`,
  required: ['items'],
  properties: {
    ...typeProperties(groupVersion(kind), `${kind.kind}List`),
    metadata: { description: 'Metadata of the list.', allOf: [sharedRef('ListMeta')] },
    items: {
      type: 'array',
      description: 'The objects.',
      items: { $ref: `#/components/schemas/${schemaName(kind)}` },
    },
  },
  'x-kubernetes-group-version-kind': [{ ...gvkOf(kind), kind: `${kind.kind}List` }],
})

const schemasOf = (kind: OpenApiKind): JsonObject => ({
  [schemaName(kind)]: kindSchema(kind),
  ...(kind.verbs.includes('list') && { [`${schemaName(kind)}List`]: listSchema(kind) }),
})

export interface OpenApiInfo {
  title: string
  version: string
  license: { name: string; url: string }
}

/** Returns the schemas of the kinds and the shared schemas, by name. */
export const openApiSchemas = (kinds: readonly OpenApiKind[]): JsonObject => ({
  ...Object.assign({}, ...kinds.map(schemasOf)),
  ...sharedSchemas(),
})

/** Returns the document of one group version. No two of its kinds may share a path such as `/{name}/SUBRESOURCE`. */
export function openApiDocument(kinds: readonly OpenApiKind[], info: OpenApiInfo): JsonObject {
  return {
    openapi: '3.0.0',
    info: { ...info, license: { ...info.license } },
    // Relative to the document (…/openapi/v3/apis/GROUP/VERSION), so it is right below any stage or base path.
    servers: [{ url: kinds[0]?.group ? '../../../..' : '../../..' }],
    paths: Object.assign({}, ...kinds.map(pathsOf)),
    components: {
      schemas: openApiSchemas(kinds),
      securitySchemes: { BearerToken: { type: 'http', scheme: 'bearer', description: `An ${CREDENTIAL}.` } },
    },
    security: [{ BearerToken: [] }],
  }
}

interface OpenApi {
  /** The text of `/openapi/v3`. */
  index: string
  /** The text and hash of each document, by path below `/openapi/v3/` (`apis/example.test/v1`). */
  documents: Readonly<Record<string, { text: string; hash: string }>>
}

/**
 * Returns everything served below `/openapi/v3`. URLs in the index have no base path: clients prepend their own to a URL that
 * starts with `/openapi/v3`, so the URLs are right below any stage.
 * Source: k8s.io/client-go/openapi/groupversion.go.
 */
export function openApi(kinds: readonly OpenApiKind[], info: OpenApiInfo): OpenApi {
  const groups = Map.groupBy(kinds, (kind) => groupPath(kind).slice(1))
  const documents = [...groups]
    .sort(([one], [other]) => byBytes(one, other))
    .map(([path, own]) => {
      const text = stringify(openApiDocument(own, info))
      return [path, { text, hash: contentHash(text) }] as const
    })
  const paths = documents.map(([path, { hash }]) => {
    return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }] as const
  })
  return { index: stringify({ paths: Object.fromEntries(paths) }), documents: Object.fromEntries(documents) }
}
