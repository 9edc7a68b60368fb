/**
 * Lets the deploy tool (osls) deploy the functions of infra/functions.ts with the template of infra/stack/template.ts. The tool
 * uploads the archives that infra/build.ts wrote to its own bucket, and knows where each one is. Packaging does not depend on the
 * settings: the template is the same for every stage and all settings.
 */
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { functions } = require('../functions.ts')
const { parameters } = require('../settings/parameters.ts')
const { readValues } = require('../settings/values.ts')
const { stackTemplate } = require('./template.ts')

module.exports = class Stack {
  constructor(serverless, { param = [] } = {}) {
    const { service, serviceDir } = serverless
    const stage = serverless.getProvider('aws').getStage()
    const keyOf = ({ path }) => path.replaceAll('/', '-')
    const archiveOf = (one) => `.build/archives/${keyOf(one)}.zip`
    const deployed = functions.map((one) => [
      keyOf(one),
      {
        handler: `functions/${one.path}.handler`,
        name: `keyplane-${stage}-${one.name}`,
        package: { artifact: archiveOf(one) },
      },
    ])
    serverless.extendConfiguration(['functions'], Object.fromEntries(deployed))
    const values = { Stage: stage, ...readValues([param].flat().map(String)) }
    service.provider.stackParameters = Object.entries(values).map(([ParameterKey, ParameterValue]) => ({
      ParameterKey,
      ParameterValue,
    }))
    // Not an option of the tool, which would refuse it for other commands.
    service.provider.stackTags = JSON.parse(process.env.KEYPLANE_STACK_TAGS ?? '{}')
    this.hooks = {
      'before:aws:package:finalize:saveServiceState': () => {
        const { provider } = service
        const { Resources } = provider.compiledCloudFormationTemplate
        const bucket = provider.coreCloudFormationTemplate
        const template = stackTemplate(
          ({ id }) => Resources[`${id}LambdaFunction`].Properties.Code,
          (one) => readFileSync(join(serviceDir, archiveOf(one))),
          bucket,
        )
        provider.compiledCloudFormationTemplate = { ...bucket, ...template }
        // The stack begins with the bucket of the archives, and with the same parameters.
        bucket.Parameters = parameters
      },
    }
  }
}
