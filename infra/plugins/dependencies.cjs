/**
 * Sets dependencies between resources that serverless.yml cannot express, and removes those that a reference implies.
 * The stage is a separate resource (infra/stage.yml), because a deployment can configure only a stage that it creates.
 */

module.exports = class Dependencies {
  constructor(serverless) {
    this.hooks = {
      'before:aws:package:finalize:saveServiceState': () => {
        const resources = serverless.service.provider.compiledCloudFormationTemplate.Resources
        const ofType = (type) => Object.keys(resources).filter((id) => resources[id].Type === type)
        for (const id of ofType('AWS::Lambda::Alias')) delete resources[id].DependsOn
        for (const id of ofType('AWS::ApiGateway::Deployment')) {
          delete resources[id].Properties.StageName
          resources.ApiStage.Properties.DeploymentId = { Ref: id }
        }
        for (const id of ofType('AWS::Lambda::Function')) {
          const role = resources[id].Properties.Role['Fn::GetAtt'][0]
          resources[id].DependsOn = resources[id].DependsOn.filter((other) => other !== role)
        }
      },
    }
  }
}
