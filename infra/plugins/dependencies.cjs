/**
 * What waits for what in the template, where serverless.yml has no word for it.
 * A deployment of the API is a snapshot: what is made after it is missing from the stage. So it waits for the gateway
 * responses too. Dropped are dependencies that follow from a reference anyway, and those of methods on permissions.
 * The stage is a resource of its own (infra/stage.yml), because a deployment can only describe a stage that it makes.
 */

module.exports = class Dependencies {
  constructor(serverless) {
    this.hooks = {
      'before:aws:package:finalize:saveServiceState': () => {
        const resources = serverless.service.provider.compiledCloudFormationTemplate.Resources
        const ofType = (type) => Object.keys(resources).filter((id) => resources[id].Type === type)
        for (const id of ofType('AWS::ApiGateway::Deployment')) {
          resources[id].DependsOn = [resources[id].DependsOn, ofType('AWS::ApiGateway::GatewayResponse')].flat()
          delete resources[id].Properties.StageName
          resources.Stage.Properties.DeploymentId = { Ref: id }
        }
        for (const id of ofType('AWS::ApiGateway::Method')) delete resources[id].DependsOn
        for (const id of ofType('AWS::Lambda::Function')) {
          const role = resources[id].Properties.Role['Fn::GetAtt'][0]
          resources[id].DependsOn = resources[id].DependsOn.filter((other) => other !== role)
        }
      },
    }
  }
}
