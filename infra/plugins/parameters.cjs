/**
 * Makes the template one for every deployment: adds the parameters, replaces the name of the stage by one, and lets resources of
 * a setting exist only with it. Runs after all plugins that change the template.
 */
const { metadata, parameters, rules } = require('../settings/parameters.ts')

module.exports = class Parameters {
  constructor(serverless) {
    this.hooks = {
      'before:aws:package:finalize:saveServiceState': () => {
        const { coreCloudFormationTemplate, compiledCloudFormationTemplate } = serverless.service.provider
        // The stack begins with the bucket of the archives, and with the same parameters.
        coreCloudFormationTemplate.Parameters = parameters
        this.parametrize(compiledCloudFormationTemplate)
      },
    }
  }

  parametrize(template) {
    const { Resources, Outputs } = template
    // Made for one stage, and without a use: the output Url is the address.
    delete Outputs.ServiceEndpoint
    for (const output of Object.values(Outputs)) delete output.Export
    const ofType = (type) => Object.entries(Resources).filter(([, { Type }]) => Type === type)
    for (const [, { Properties }] of ofType('AWS::Logs::LogGroup'))
      Properties.RetentionInDays = { Ref: 'LogRetentionDays' }
    Object.assign(template, {
      Parameters: parameters,
      Metadata: metadata,
      Rules: rules,
      Resources: withSub(Resources),
      Outputs: withSub(Outputs),
    })
  }
}

/** Returns the value with Fn::Sub around each text that names the stage. */
function withSub(value) {
  if (typeof value === 'string') return value.includes(`\${Stage}`) ? { 'Fn::Sub': value } : value
  if (Array.isArray(value)) return value.map(withSub)
  if (typeof value !== 'object' || value === null || 'Fn::Sub' in value) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withSub(one)]))
}
