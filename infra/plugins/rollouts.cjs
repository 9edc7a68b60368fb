/**
 * Publishes functions as versions behind an alias, which is all that requests, streams and schedules invoke. The resource Release
 * (infra/template/rollouts.yml) has another description whenever the code or a setting of a function is another one, and so has each
 * version: whatever updates the stack publishes new versions. CodeDeploy shifts the requests of the functions with `canary` to them,
 * and goes back when an alarm rings. All other functions follow at once when these are shifted: Lambda allows 15 calls a second of
 * its control plane, which CodeDeploy would exceed for all functions at the same time.
 *
 * The description is also a variable of the functions: Lambda refuses to publish a version that equals the last one.
 *
 * Sources: AWS CloudFormation Template Reference, "AWS::Lambda::Version", "AWS::Lambda::Alias" and "UpdatePolicy attribute".
 */
const { createHash } = require('node:crypto')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { version } = require('../../package.json')
const { parameters } = require('../settings/parameters.ts')
const { alias, onlyIf } = require('./intrinsics.cjs')

/** Functions that people invoke, and the one that answers for Release. */
const unversioned = ['bootstrap', 'release']

const release = { 'Fn::GetAtt': ['Release', 'Description'] }
const named = (id, kind) => id.replace(/LambdaFunction$/, kind)

module.exports = class Rollouts {
  constructor(serverless) {
    const { service, serviceDir } = serverless
    const { naming } = serverless.getProvider('aws')
    // The setting provisioned-concurrency is for functions that are warm.
    const properties = { canary: { type: 'boolean' }, warm: { type: 'boolean' } }
    serverless.configSchemaHandler.defineFunctionProperties('aws', { properties })
    this.hooks = {
      'before:aws:package:finalize:saveServiceState': () => {
        const names = service.getAllFunctions().filter((name) => !unversioned.includes(name))
        const archives = names.map((name) => readFileSync(join(serviceDir, service.getFunction(name).package.artifact)))
        const { Resources, Conditions } = service.provider.compiledCloudFormationTemplate
        const functions = names.map((name) => ({
          id: naming.getLambdaLogicalId(name),
          archive: archives[names.indexOf(name)],
          ...service.getFunction(name),
        }))
        this.publish({ Resources, Conditions }, functions, digestOf(Buffer.concat(archives)))
      },
    }
  }

  publish({ Resources, Conditions }, functions, archives) {
    const configuration = functions.map(({ id }) => {
      const { Code: _, ...properties } = Resources[id].Properties
      return properties
    })
    // The path replaces the roles of functions, which their properties only refer to.
    const names = parametersIn([configuration, { Ref: 'RolePath' }], Conditions)
    Object.assign(Resources.Release.Properties, {
      Release: `${version} ${digestOf(JSON.stringify([archives, configuration])).slice(0, 16)}`,
      ...Object.fromEntries(names.map((name) => [name, { Ref: name }])),
    })
    const canaries = functions.filter(({ canary }) => canary).map(({ id }) => named(id, 'Alias'))
    for (const { id, archive, canary, warm } of functions) {
      Resources[id].Properties.Environment.Variables.RELEASE = release
      Resources[named(id, 'Version')] = {
        Type: 'AWS::Lambda::Version',
        // A rollback by hand needs the versions of earlier releases, but not those of rollouts that went back.
        DeletionPolicy: 'RetainExceptOnCreate',
        UpdateReplacePolicy: 'Retain',
        // Lambda refuses to publish other code, such as that of somebody who has changed the function or the bucket meanwhile.
        Properties: { FunctionName: { Ref: id }, Description: release, CodeSha256: digestOf(archive, 'base64') },
      }
      const config = onlyIf('HasProvisionedConcurrency', {
        ProvisionedConcurrentExecutions: { Ref: 'ProvisionedConcurrency' },
      })
      Resources[named(id, 'Alias')] = {
        Type: 'AWS::Lambda::Alias',
        ...(canary ? { UpdatePolicy: shiftBy(named(id, 'Rollout')) } : { DependsOn: canaries }),
        Properties: {
          FunctionName: { Ref: id },
          FunctionVersion: { 'Fn::GetAtt': [named(id, 'Version'), 'Version'] },
          Name: alias,
          ...(warm && { ProvisionedConcurrencyConfig: config }),
        },
      }
      if (canary) Resources[named(id, 'Rollout')] = Resources.RolloutGroup
      qualify(Resources, id)
    }
    delete Resources.RolloutGroup
  }
}

const digestOf = (bytes, form = 'hex') => createHash('sha256').update(bytes).digest(form)

/** Lets CodeDeploy shift an alias. Without it, CloudFormation moves the alias at once. */
const shiftBy = (group) => ({
  CodeDeployLambdaAliasUpdate: onlyIf('RollsOutGradually', {
    ApplicationName: { Ref: 'RolloutApplication' },
    DeploymentGroupName: { Ref: group },
  }),
})

/** Lets streams and schedules invoke the alias of a function. */
function qualify(resources, id) {
  const qualified = { Ref: named(id, 'Alias') }
  for (const resource of Object.values(resources)) {
    const { Type, Properties } = resource
    if (Type === 'AWS::Lambda::EventInvokeConfig' && isFunction(Properties.FunctionName, id)) {
      resource.DependsOn = qualified.Ref
      Properties.Qualifier = alias
    }
    const invokes = ['AWS::Lambda::EventSourceMapping', 'AWS::Lambda::Permission'].includes(Type)
    if (invokes && isFunction(Properties.FunctionName, id)) Properties.FunctionName = qualified
    for (const target of Type === 'AWS::Events::Rule' ? Properties.Targets : [])
      if (isFunction(target.Arn, id)) target.Arn = qualified
  }
}

const isFunction = (value, id) => value?.['Fn::GetAtt']?.[0] === id || value?.Ref === id

/** Returns the parameters that a part of the template depends on, also by its conditions. */
function parametersIn(part, conditions) {
  const found = new Set()
  const look = (value) => {
    if (typeof value !== 'object' || value === null) return
    if (typeof value.Ref === 'string') found.add(value.Ref)
    if (typeof value['Fn::Sub'] === 'string')
      for (const [, name] of value['Fn::Sub'].matchAll(/\$\{(\w+)\}/g)) found.add(name)
    const condition = value.Condition ?? value['Fn::If']?.[0]
    if (typeof condition === 'string' && condition in conditions) look(conditions[condition])
    for (const one of Object.values(value)) look(one)
  }
  look(part)
  return Object.keys(parameters).filter((name) => found.has(name))
}
