/**
 * Sets dependencies between resources that serverless.yml cannot express, and removes those that a reference implies.
 * The stage is a separate resource (infra/template/stage.yml), because a deployment can configure only a stage that it creates.
 */
const { createHash } = require('node:crypto')

module.exports = class Dependencies {
  constructor(serverless) {
    this.hooks = {
      'before:aws:package:finalize:saveServiceState': () =>
        this.connect(serverless.service.provider.compiledCloudFormationTemplate.Resources),
    }
  }

  connect(resources) {
    const ofType = (type) => Object.keys(resources).filter((id) => resources[id].Type === type)
    for (const id of ofType('AWS::ApiGateway::Deployment')) {
      const { [id]: deployment } = resources
      delete deployment.Properties.StageName
      delete resources[id]
      // A deployment is a copy of the API, so another API needs another one: its ID follows from what it copies.
      const digest = createHash('sha256').update(JSON.stringify(resources.Api.Properties)).digest('hex').slice(0, 16)
      resources[`ApiGatewayDeployment${digest}`] = deployment
      resources.ApiStage.Properties.DeploymentId = { Ref: `ApiGatewayDeployment${digest}` }
    }
    for (const id of ofType('AWS::Lambda::Function')) {
      const role = resources[id].Properties.Role['Fn::GetAtt'][0]
      resources[id].DependsOn = resources[id].DependsOn.filter((other) => other !== role)
    }
  }
}
