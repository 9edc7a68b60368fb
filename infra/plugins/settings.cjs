/**
 * Gives the functions their settings as variables, and the stack the values of a deployment. Packaging does not depend on the
 * values: the template is the same for every stage and all settings (parameters.cjs).
 */
const { parameterOf, variableOf } = require('../settings/setting.ts')
const { groups } = require('../settings/table.ts')
const { readValues } = require('../settings/values.ts')

module.exports = class Settings {
  constructor(serverless, { param = [] } = {}) {
    const { service } = serverless
    const stage = serverless.getProvider('aws').getStage()
    const values = { Stage: stage, ...readValues([param].flat().map(String)) }
    service.provider.stackParameters = Object.entries(values).map(([ParameterKey, ParameterValue]) => ({
      ParameterKey,
      ParameterValue,
    }))
    // Not an option of the tool, which would refuse it for other commands.
    service.provider.stackTags = JSON.parse(process.env.KEYPLANE_STACK_TAGS ?? '{}')
    const names = {}
    this.hooks = {
      'before:package:initialize': () => {
        service.provider.apiName = `\${Stage}-${service.service}`
        for (const id of service.getAllFunctions()) {
          const target = service.getFunction(id)
          names[id] = target.name
          target.name = target.name.replace(`-${stage}-`, `-\${Stage}-`)
        }
        for (const { functions, settings } of groups) this.give(service, functions, Object.keys(settings))
      },
      // The deploy tool looks for the functions by their names.
      'after:package:finalize': () => {
        for (const [id, name] of Object.entries(names)) service.getFunction(id).name = name
      },
    }
  }

  give({ provider, ...service }, functions, settings) {
    if (functions === undefined) return
    const variables = Object.fromEntries(settings.map((name) => [variableOf(name), { Ref: parameterOf(name) }]))
    if (functions === 'all') Object.assign(provider.environment, variables)
    else for (const name of functions) service.functions[name].environment = variables
  }
}
