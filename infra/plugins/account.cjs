/**
 * Applies the settings for the rules of an account (infra/settings/account.ts) to every resource of a type that they concern.
 *
 * Sources: AWS CloudFormation Template Reference; Amazon DynamoDB Developer Guide, "AWS KMS and DynamoDB"; AWS Lambda Developer Guide,
 * "Securing Lambda environment variables"; Amazon API Gateway Developer Guide, "API Gateway resource policy examples".
 */

const { either, none, onlyIf, split } = require('./intrinsics.cjs')

const key = { Ref: 'KmsKeyArn' }

/** What the properties of each type get, before functions are published with theirs. */
const early = {
  'AWS::Lambda::Function': () => ({
    KmsKeyArn: onlyIf('HasKmsKey', key),
    TracingConfig: onlyIf('IsTraced', { Mode: 'Active' }),
    LoggingConfig: onlyIf('ExportsAudit', { LogGroup: { Ref: 'FunctionsLog' } }),
  }),
  'AWS::Logs::LogGroup': () => ({ KmsKeyId: onlyIf('HasKmsKey', key) }),
  'AWS::SecretsManager::Secret': () => ({ KmsKeyId: onlyIf('HasKmsKey', key) }),
  'AWS::SQS::Queue': () => ({
    SqsManagedSseEnabled: either('HasKmsKey', none, true),
    KmsMasterKeyId: onlyIf('HasKmsKey', key),
  }),
  'AWS::SNS::Topic': () => ({ KmsMasterKeyId: onlyIf('HasKmsKey', key) }),
}

/** What they get when other plugins have made the API and its role. */
const late = {
  'AWS::IAM::Role': () => ({
    Path: onlyIf('HasRolePath', { Ref: 'RolePath' }),
    PermissionsBoundary: onlyIf('HasPermissionsBoundary', { Ref: 'PermissionsBoundary' }),
  }),
  // In the document, because an import with Mode overwrite removes what the document lacks.
  'AWS::ApiGateway::RestApi': ({ Body }) => ({
    EndpointConfiguration: either(
      'IsPrivate',
      { Types: ['PRIVATE'], VpcEndpointIds: split('VpcEndpointIds') },
      { Types: ['REGIONAL'] },
    ),
    // An import takes the type of the endpoint from this parameter, and is edge-optimized without it.
    Parameters: { endpointConfigurationTypes: either('IsPrivate', 'PRIVATE', 'REGIONAL') },
    Body: {
      ...Body,
      servers: onlyIf('HasEndpointConfiguration', [
        { url: '/', 'x-amazon-apigateway-endpoint-configuration': endpoint },
      ]),
      'x-amazon-apigateway-policy': onlyIf('HasResourcePolicy', resourcePolicy),
    },
  }),
}

const endpoint = {
  disableExecuteApiEndpoint: onlyIf('HasDisabledExecuteApi', true),
  vpcEndpointIds: onlyIf('IsPrivate', split('VpcEndpointIds')),
}

const invoke = { Principal: '*', Action: 'execute-api:Invoke', Resource: 'execute-api:/*' }

/** Denies what the settings do not name. In a VPC the source address is that of the client there. */
const resourcePolicy = {
  Version: '2012-10-17',
  Statement: [
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
  ],
}

module.exports = class Account {
  constructor({ service }) {
    const resources = () => service.provider.compiledCloudFormationTemplate.Resources
    this.hooks = {
      'after:aws:package:finalize:mergeCustomProviderResources': () => this.prepare(resources()),
      'before:aws:package:finalize:saveServiceState': () => {
        apply(late, resources())
        // A changed path replaces all roles. Versions of functions and the deployed API name the former ones.
        for (const [id, resource] of Object.entries(resources()))
          if (resource.Type === 'AWS::IAM::Role')
            resources()[id] = { DeletionPolicy: 'Delete', ...resource, UpdateReplacePolicy: 'Retain' }
      },
    }
  }

  prepare(resources) {
    apply(early, resources)
    const arns = onlyIf('HasFunctionsPolicy', [{ Ref: 'FunctionsPolicy' }])
    for (const { Type, Properties } of Object.values(resources))
      if (Type === 'AWS::Lambda::Function')
        resources[Properties.Role['Fn::GetAtt'][0]].Properties.ManagedPolicyArns = arns
    for (const id of ['GatewayAccount', 'GatewayLogRole']) resources[id].Condition = 'SetsGatewayLogRole'
  }
}

function apply(additions, resources) {
  for (const { Type, Properties } of Object.values(resources)) Object.assign(Properties, additions[Type]?.(Properties))
}
