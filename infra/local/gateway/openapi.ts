/** Reads the OpenAPI document of a REST API with the extensions of API Gateway: routes, their authorizers, gateway responses. */

export interface Route {
  /** API Gateway's notation: `/a/{name}/{proxy+}`. */
  resource: string
  /** Upper case, or ANY. */
  method: string
  functionId: string
  streaming: boolean
  timeoutMilliseconds: number
  /** Logical ID of the authorizer's function; undefined for a public route. */
  authorizerFunctionId?: string
}

/** A response that API Gateway generates itself. */
export interface ResponseDescription {
  statusCode?: number
  parameters: Readonly<Record<string, string>>
  templates: Readonly<Record<string, string>>
}

export interface ApiDescription {
  routes: readonly Route[]
  /** By type, such as `UNAUTHORIZED`. */
  responses: ReadonlyMap<string, ResponseDescription>
  binaryMediaTypes: readonly string[]
  /** Minimum size in bytes of compressed responses; undefined disables compression. */
  minimumCompressionSize?: number
}

interface Operation {
  security?: Record<string, unknown>[]
  'x-amazon-apigateway-integration': {
    type: string
    uri: unknown
    timeoutInMillis?: number
    responseTransferMode?: string
  }
}

interface Scheme {
  'x-amazon-apigateway-authorizer': { type: string; authorizerUri: unknown; authorizerResultTtlInSeconds: number }
}

export interface OpenApiDocument {
  paths: Record<string, Record<string, Operation>>
  components?: { securitySchemes?: Record<string, Scheme> }
  'x-amazon-apigateway-gateway-responses'?: Record<
    string,
    { statusCode?: string; responseParameters?: Record<string, string>; responseTemplates?: Record<string, string> }
  >
  'x-amazon-apigateway-binary-media-types'?: string[]
  'x-amazon-apigateway-minimum-compression-size'?: number
}

const anyMethod = 'x-amazon-apigateway-any-method'

/** API Gateway's default when the document sets no limit. */
const defaultTimeout = 29_000

/**
 * `functionOf` returns the logical ID of the function that a URI invokes. Throws for an integration other than a Lambda proxy,
 * and for an authorizer that is cached or does not exist.
 */
export function readDocument(document: OpenApiDocument, functionOf: (uri: unknown) => string): ApiDescription {
  const authorizers = new Map(
    Object.entries(document.components?.securitySchemes ?? {}).map(([name, scheme]) => {
      const { type, authorizerUri, authorizerResultTtlInSeconds: seconds } = scheme['x-amazon-apigateway-authorizer']
      if (type !== 'request' || seconds !== 0) {
        throw new TypeError(`authorizer ${name} must be of type request and must not be cached`)
      }
      return [name, functionOf(authorizerUri)]
    }),
  )
  function readRoute(resource: string, name: string, { security = [], ...operation }: Operation): Route {
    const method = name === anyMethod ? 'ANY' : name.toUpperCase()
    const { type, uri, timeoutInMillis, responseTransferMode } = operation['x-amazon-apigateway-integration']
    if (type !== 'aws_proxy') throw new TypeError(`${method} ${resource} must have a Lambda proxy integration`)
    const route = {
      resource,
      method,
      functionId: functionOf(uri),
      streaming: responseTransferMode === 'STREAM',
      timeoutMilliseconds: timeoutInMillis ?? defaultTimeout,
    }
    const [scheme] = security.flatMap((requirement) => Object.keys(requirement))
    if (scheme === undefined) return route
    const authorizerFunctionId = authorizers.get(scheme)
    if (authorizerFunctionId === undefined) {
      throw new TypeError(`${method} ${resource} must use an authorizer of this API, not ${scheme}`)
    }
    return { ...route, authorizerFunctionId }
  }
  const minimumCompressionSize = document['x-amazon-apigateway-minimum-compression-size']
  return {
    routes: Object.entries(document.paths).flatMap(([resource, operations]) =>
      Object.entries(operations).map(([name, operation]) => readRoute(resource, name, operation)),
    ),
    responses: new Map(
      Object.entries(document['x-amazon-apigateway-gateway-responses'] ?? {}).map(([type, response]) => [
        type,
        {
          ...(response.statusCode !== undefined && { statusCode: Number(response.statusCode) }),
          parameters: response.responseParameters ?? {},
          templates: response.responseTemplates ?? {},
        },
      ]),
    ),
    binaryMediaTypes: document['x-amazon-apigateway-binary-media-types'] ?? [],
    ...(minimumCompressionSize !== undefined && { minimumCompressionSize }),
  }
}
