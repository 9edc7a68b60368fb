/**
 * Replaces the methods, paths, authorizers and gateway responses of the API, a resource each, by one OpenAPI document: the
 * `Body` of the REST API. A stack may have 500 resources, and CloudFormation creates them a few at a time. It also replaces
 * the permission of each function by one role, with which API Gateway invokes exactly the functions that have a route.
 *
 * Sources, below docs.aws.amazon.com/apigateway/latest/developerguide: api-gateway-swagger-extensions.html;
 * response-streaming-lambda-configure.html for `responseTransferMode`; api-gateway-set-up-lambda-proxy-integration-on-proxy-resource.html
 * for parameters and empty `responses`.
 */

const types = {
  authorizer: 'AWS::ApiGateway::Authorizer',
  method: 'AWS::ApiGateway::Method',
  path: 'AWS::ApiGateway::Resource',
  response: 'AWS::ApiGateway::GatewayResponse',
}
const service = 'apigateway.amazonaws.com'
const credentials = { 'Fn::GetAtt': ['GatewayFunctionsRole', 'Arn'] }

/** Returns the object without its undefined properties. */
const defined = (object) => JSON.parse(JSON.stringify(object))

const { alias, sub } = require('./intrinsics.cjs')

module.exports = class OpenApiBody {
  constructor(serverless) {
    const { provider } = serverless.service
    // Not the ID of osls, and neither is that of the stage. An API of that ID may have methods that are resources: CloudFormation
    // would import the same methods, then delete them with the old resources. Under another ID it creates a new API first.
    serverless.getProvider('aws').naming.getRestApiLogicalId = () => 'Api'
    this.hooks = {
      'before:aws:package:finalize:saveServiceState': () =>
        this.replace(provider.compiledCloudFormationTemplate.Resources),
    }
  }

  replace(resources) {
    const ofType = (type) => Object.entries(resources).filter(([, { Type }]) => Type === type)
    const [[, api]] = ofType('AWS::ApiGateway::RestApi')
    const { BinaryMediaTypes, MinimumCompressionSize, Policy, ...properties } = api.Properties
    if (Policy) throw new Error('the resource policy must be in the OpenAPI document (infra/plugins/account.cjs)')
    const authorizers = Object.fromEntries(ofType(types.authorizer).map(([id, { Properties }]) => [id, Properties]))
    const uris = new Uris(resources)
    const Body = {
      openapi: '3.0.1',
      info: { title: properties.Name, version: '1.0' },
      paths: pathsOf(resources, ofType(types.method), authorizers, uris),
      components: { securitySchemes: schemesOf(Object.values(authorizers), uris) },
      'x-amazon-apigateway-gateway-responses': Object.fromEntries(
        ofType(types.response).map(([, { Properties }]) => [Properties.ResponseType, responseOf(Properties)]),
      ),
      'x-amazon-apigateway-binary-media-types': BinaryMediaTypes,
      'x-amazon-apigateway-minimum-compression-size': MinimumCompressionSize,
    }
    api.Properties = {
      ...properties,
      // Deletes what the document lacks.
      Mode: 'overwrite',
      Body: defined(Body),
    }
    // Another ID than in release 0.1, whose role stays until the stage has the new routes: it allows functions without an alias.
    resources.GatewayFunctionsRole = roleFor([...uris.arns].sort().map(sub))
    // The document names the functions, because their environment refers to the API. A route may not go live before its function.
    for (const [, deployment] of ofType('AWS::ApiGateway::Deployment')) deployment.DependsOn = [...uris.ids].sort()

    const isReplaced = ({ Type, Properties }) =>
      Object.values(types).includes(Type) || (Type === 'AWS::Lambda::Permission' && Properties.Principal === service)
    for (const [id, resource] of Object.entries(resources)) if (isReplaced(resource)) delete resources[id]
  }
}

/** Writes invocation URIs without references to functions, and collects what they invoke. */
class Uris {
  /** ARNs of aliases. */
  arns = new Set()
  /** Logical IDs of these aliases. */
  ids = new Set()

  constructor(resources) {
    this.resources = resources
  }

  /** Returns the URI as Fn::Sub. Throws for one that invokes no function. */
  read(uri) {
    const text = this.write(uri)
    const [, arn, name] = /\/functions\/(arn:\S*:function:([\w${}-]+))\/[a-z-]+$/.exec(text) ?? []
    if (arn === undefined) throw new Error(`${text} invokes no function`)
    this.arns.add(`${arn}:${alias}`)
    for (const [id, { Type, Properties }] of Object.entries(this.resources))
      if (Type === 'AWS::Lambda::Function' && Properties.FunctionName === name)
        this.ids.add(id.replace(/LambdaFunction$/, 'Alias'))
    return sub(text.replace(arn, `${arn}:${alias}`))
  }

  /** Returns the text of Fn::Sub for a text, Ref, Fn::Join or the ARN of a function. */
  write(value) {
    if (typeof value === 'string') return value
    if (value.Ref) return `\${${value.Ref}}`
    if (value['Fn::Join']) {
      const [separator, parts] = value['Fn::Join']
      return parts.map((part) => this.write(part)).join(separator)
    }
    const { FunctionName } = this.resources[value['Fn::GetAtt'][0]].Properties
    return `arn:\${AWS::Partition}:lambda:\${AWS::Region}:\${AWS::AccountId}:function:${FunctionName}`
  }
}

/** Returns `paths` of the document. */
function pathsOf(resources, methods, authorizers, uris) {
  const pathOf = ({ Ref: id }) => {
    const { Type, Properties } = resources[id] ?? {}
    return Type === types.path ? `${pathOf(Properties.ParentId)}/${Properties.PathPart}` : ''
  }
  const paths = {}
  for (const [id, { Properties }] of methods) {
    const { HttpMethod, ResourceId, AuthorizationType, AuthorizerId, Integration } = Properties
    const authorizer = authorizers[AuthorizerId?.Ref]
    if (AuthorizationType !== 'NONE' && !authorizer) throw new Error(`${id} must use an authorizer of this API`)
    if (Integration.Type !== 'AWS_PROXY') throw new Error(`${id} must have a Lambda proxy integration`)
    const path = pathOf(ResourceId) || '/'
    const method = HttpMethod === 'ANY' ? 'x-amazon-apigateway-any-method' : HttpMethod.toLowerCase()
    paths[path] ??= {}
    paths[path][method] = {
      parameters: parametersOf(path),
      responses: {},
      security: authorizer && [{ [authorizer.Name]: [] }],
      'x-amazon-apigateway-integration': {
        type: 'aws_proxy',
        httpMethod: Integration.IntegrationHttpMethod,
        uri: uris.read(Integration.Uri),
        credentials,
        timeoutInMillis: Integration.TimeoutInMillis,
        responseTransferMode: Integration.ResponseTransferMode,
      },
    }
  }
  return paths
}

/** Returns the parameters of a path, which OpenAPI requires. A greedy one, `{name+}`, is declared without the plus. */
function parametersOf(path) {
  const parameters = [...path.matchAll(/\{([^}+]+)\+?\}/g)]
  if (parameters.length === 0) return undefined
  return parameters.map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))
}

/** `name` and `in` say nothing about a REQUEST authorizer, but OpenAPI requires them. */
const schemesOf = (authorizers, uris) =>
  Object.fromEntries(
    authorizers.map(({ Name, Type, AuthorizerUri, AuthorizerResultTtlInSeconds, IdentitySource }) => [
      Name,
      {
        type: 'apiKey',
        name: 'Unused',
        in: 'header',
        'x-amazon-apigateway-authtype': 'custom',
        'x-amazon-apigateway-authorizer': {
          type: Type.toLowerCase(),
          authorizerUri: uris.read(AuthorizerUri),
          authorizerCredentials: credentials,
          authorizerResultTtlInSeconds: AuthorizerResultTtlInSeconds,
          identitySource: IdentitySource,
        },
      },
    ]),
  )

const responseOf = ({ StatusCode, ResponseParameters, ResponseTemplates }) => ({
  statusCode: StatusCode,
  responseParameters: ResponseParameters,
  responseTemplates: ResponseTemplates,
})

/**
 * Only APIs of the account may use the role. The condition needs `IfExists`: API Gateway assumes the role of an integration without
 * aws:SourceAccount and aws:SourceArn, so that every request is a 500 where a trust policy requires one of them
 * (github.com/aws-solutions-library-samples/accelerated-intelligent-document-processing-on-aws, pull request 479). Without these
 * keys, the right to pass the role still binds it to its account.
 */
const trust = {
  Effect: 'Allow',
  Principal: { Service: service },
  Action: 'sts:AssumeRole',
  Condition: { StringEqualsIfExists: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
}

const roleFor = (functions) => ({
  Type: 'AWS::IAM::Role',
  Properties: {
    AssumeRolePolicyDocument: { Version: '2012-10-17', Statement: [trust] },
    Policies: [
      {
        PolicyName: 'invoke',
        PolicyDocument: {
          Version: '2012-10-17',
          // A streamed invocation needs the same action: docs.aws.amazon.com/lambda/latest/api/API_InvokeWithResponseStream.html.
          Statement: [{ Effect: 'Allow', Action: 'lambda:InvokeFunction', Resource: functions }],
        },
      },
    ],
  },
})
