/**
 * The REST API as one OpenAPI document. It has one role, with which API Gateway invokes exactly the functions that have a route.
 *
 * Sources, below docs.aws.amazon.com/apigateway/latest/developerguide: api-gateway-swagger-extensions.html;
 * response-streaming-lambda-configure.html for `responseTransferMode`; api-gateway-set-up-lambda-proxy-integration-on-proxy-resource.html
 * for parameters and empty `responses`; "API Gateway resource policy examples".
 */
import { createHash } from 'node:crypto'
import { type DeployedFunction, functions } from '../functions.ts'
import type { Route } from '../routes.ts'
import { role } from './account.ts'
import {
  allow,
  att,
  either,
  onlyIf,
  type Part,
  policy,
  type Resource,
  type Resources,
  ref,
  split,
  sub,
  trusts,
  type Value,
} from './intrinsics.ts'
import { functionArn } from './lambda.ts'
import { responses } from './responses.ts'
import { alias, publisherOf } from './rollouts.ts'

/** Same as in kube-apiserver. Functions compress streamed responses themselves. */
export const minimumCompressionSize = 131072
export const binaryMediaTypes = ['application/vnd.kubernetes.protobuf', 'application/octet-stream']

/** The function that decides every request, except those of open routes. */
export const authorizer = functions.find(({ path }) => path === 'authorizer') as DeployedFunction

/** The timeout of the routes of a function, if it is longer than the 29 s of API Gateway. */
export const timeoutOf = ({ seconds, streams }: DeployedFunction): number | undefined =>
  streams && seconds > 29 ? (seconds + 5) * 1000 : undefined

const invoked = functions.filter((one) => one === authorizer || one.routes.length > 0)
const credentials = att('GatewayFunctionsRole', 'Arn')

/** The URI of an invocation names the function without a reference to it, because its environment refers to the API. */
const uriOf = (one: DeployedFunction) => {
  const [version, action] = one.streams
    ? ['2021-11-15', 'response-streaming-invocations']
    : ['2015-03-31', 'invocations']
  const { 'Fn::Sub': function_ } = functionArn(one, `:${alias}`)
  return sub(
    `arn:\${AWS::Partition}:apigateway:\${AWS::Region}:lambda:path/${version}/functions/${function_}/${action}`,
  )
}

/** Returns the parameters of a path, which OpenAPI requires. A greedy one, `{name+}`, is declared without the plus. */
function parametersOf(path: string) {
  const parameters = [...path.matchAll(/\{([^}+]+)\+?\}/g)]
  if (parameters.length === 0) return undefined
  return parameters.map(([, name = '']) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))
}

const operation = (one: DeployedFunction, { path, open }: Route) => ({
  parameters: parametersOf(path),
  responses: {},
  security: open ? undefined : [{ authorizer: [] }],
  'x-amazon-apigateway-integration': {
    type: 'aws_proxy',
    httpMethod: 'POST',
    uri: uriOf(one),
    credentials,
    timeoutInMillis: timeoutOf(one),
    responseTransferMode: one.streams && 'STREAM',
  },
})

const paths: Record<string, Record<string, Value>> = {}
for (const one of functions)
  for (const route of one.routes) {
    paths[route.path] ??= {}
    const method = route.method === 'ANY' ? 'x-amazon-apigateway-any-method' : route.method.toLowerCase()
    Object.assign(paths[route.path] ?? {}, { [method]: operation(one, route) })
  }

const scheme = {
  // `name` and `in` say nothing about a REQUEST authorizer, but OpenAPI requires them.
  type: 'apiKey',
  name: 'Unused',
  in: 'header',
  'x-amazon-apigateway-authtype': 'custom',
  'x-amazon-apigateway-authorizer': {
    type: 'request',
    authorizerUri: uriOf(authorizer),
    authorizerCredentials: credentials,
    // A revoked key is invalid at the next request. There is no identity source: the authorizer also answers requests without a key.
    authorizerResultTtlInSeconds: 0,
  },
}

const invoke = { Principal: '*', Action: 'execute-api:Invoke', Resource: 'execute-api:/*' }

/** Denies what the settings do not name. In a VPC the source address is that of the client there. */
const resourcePolicy = policy(
  { Effect: 'Allow', ...invoke },
  onlyIf('IsPrivate', {
    Effect: 'Deny',
    ...invoke,
    Condition: { StringNotEquals: { 'aws:SourceVpce': split('VpcEndpointIds') } },
  }),
  onlyIf('HasAllowedCidrs', {
    Effect: 'Deny',
    ...invoke,
    Condition: {
      NotIpAddress: either(
        'IsPrivate',
        { 'aws:VpcSourceIp': split('AllowedCidrs') },
        { 'aws:SourceIp': split('AllowedCidrs') },
      ),
    },
  }),
)

const endpoint = {
  disableExecuteApiEndpoint: onlyIf('HasDisabledExecuteApi', true),
  vpcEndpointIds: onlyIf('IsPrivate', split('VpcEndpointIds')),
}

const Name = sub(`\${Stage}-keyplane`)

const Api: Resource = {
  Type: 'AWS::ApiGateway::RestApi',
  Properties: {
    Name,
    // Idle streams of an edge-optimized API end after 30 s, those of a regional API after 5 minutes.
    EndpointConfiguration: either(
      'IsPrivate',
      { Types: ['PRIVATE'], VpcEndpointIds: split('VpcEndpointIds') },
      { Types: ['REGIONAL'] },
    ),
    // An import takes the type of the endpoint from this parameter, and is edge-optimized without it.
    Parameters: { endpointConfigurationTypes: either('IsPrivate', 'PRIVATE', 'REGIONAL') },
    // Deletes what the document lacks. So the policy is in the document.
    Mode: 'overwrite',
    Body: {
      openapi: '3.0.1',
      info: { title: Name, version: '1.0' },
      paths,
      components: { securitySchemes: { authorizer: scheme } },
      'x-amazon-apigateway-gateway-responses': responses as unknown as Value,
      'x-amazon-apigateway-binary-media-types': binaryMediaTypes,
      'x-amazon-apigateway-minimum-compression-size': minimumCompressionSize,
      servers: onlyIf('HasEndpointConfiguration', [
        { url: '/', 'x-amazon-apigateway-endpoint-configuration': endpoint },
      ]),
      'x-amazon-apigateway-policy': onlyIf('HasResourcePolicy', resourcePolicy),
    },
  },
}

/** A deployment is a copy of the API, so another API needs another one: its ID follows from what it copies. */
const digest = createHash('sha256').update(JSON.stringify(Api.Properties)).digest('hex').slice(0, 16)
export const deploymentId = `ApiGatewayDeployment${digest}`

/**
 * Only APIs of the account may use the role. The condition needs `IfExists`: API Gateway assumes the role of an integration without
 * aws:SourceAccount and aws:SourceArn, so that every request is a 500 where a trust policy requires one of them
 * (github.com/aws-solutions-library-samples/accelerated-intelligent-document-processing-on-aws, pull request 479). Without these
 * keys, the right to pass the role still binds it to its account.
 */
const trust = trusts('apigateway', { StringEqualsIfExists: { 'aws:SourceAccount': ref('AWS::AccountId') } })

/** The API under the name of the setting domain. The URL and the default issuer then survive a new API, whose own name changes. */
const domain: Resources = {
  DomainName: {
    Type: 'AWS::ApiGateway::DomainName',
    Condition: 'HasDomain',
    Properties: {
      DomainName: ref('Domain'),
      RegionalCertificateArn: ref('CertificateArn'),
      EndpointConfiguration: { Types: ['REGIONAL'] },
      // TLS 1.2 and 1.3.
      SecurityPolicy: 'TLS_1_2',
    },
  },
  // No base path: the stage is at the root of the domain.
  DomainMapping: {
    Type: 'AWS::ApiGateway::BasePathMapping',
    Condition: 'HasDomain',
    Properties: { DomainName: ref('DomainName'), RestApiId: ref('Api'), Stage: ref('ApiStage') },
  },
}

export const api: Part = {
  Resources: {
    Api,
    [deploymentId]: {
      Type: 'AWS::ApiGateway::Deployment',
      // The document does not refer to the functions, and a route may not go live before its function.
      DependsOn: [...new Set(invoked.map(publisherOf))].sort(),
      Properties: { RestApiId: ref('Api') },
    },
    GatewayFunctionsRole: role(trust, {
      // A streamed invocation needs the same action: docs.aws.amazon.com/lambda/latest/api/API_InvokeWithResponseStream.html.
      invoke: policy(
        allow(
          'lambda:InvokeFunction',
          invoked
            .toSorted((one, other) => (one.name < other.name ? -1 : 1))
            .map((one) => functionArn(one, `:${alias}`)),
        ),
      ),
    }),
    ...domain,
  },
  Outputs: {
    DomainTarget: {
      Condition: 'HasDomain',
      Description: 'What the DNS record of the domain points to',
      Value: att('DomainName', 'RegionalDomainName'),
    },
    DomainHostedZoneId: {
      Condition: 'HasDomain',
      Description: 'The hosted zone of that name, for an alias record in Route 53',
      Value: att('DomainName', 'RegionalHostedZoneId'),
    },
  },
}
