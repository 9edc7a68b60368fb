/**
 * Sets dependencies between resources that serverless.yml cannot express.
 * A deployment of the API is a snapshot: resources created after it are missing from the stage. It therefore depends on the
 * gateway responses too, and on the permissions for aliases, which the setting provisioned-concurrency adds. Removes
 * dependencies that a reference implies, and those of methods on permissions.
 * The stage is a separate resource (infra/stage.yml), because a deployment can configure only a stage that it creates.
 */

module.exports = class Dependencies {
  constructor(serverless) {
    this.hooks = {
      'before:aws:package:finalize:saveServiceState': () => {
        const resources = serverless.service.provider.compiledCloudFormationTemplate.Resources
        const ofType = (type) => Object.keys(resources).filter((id) => resources[id].Type === type)
        const aliases = ofType('AWS::Lambda::Alias')
        for (const id of aliases) delete resources[id].DependsOn
        const permissions = aliases.map((id) => id.replace(/ProvConcLambdaAlias$/, 'LambdaPermissionApiGateway'))
        for (const id of ofType('AWS::ApiGateway::Deployment')) {
          const responses = ofType('AWS::ApiGateway::GatewayResponse')
          resources[id].DependsOn = [resources[id].DependsOn, responses, permissions].flat()
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
