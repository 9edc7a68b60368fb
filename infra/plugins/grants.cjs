/**
 * Gives every function its own role, which allows writing to its log group and the grants that it `uses`, with their environment.
 * A grant (infra/template/grants.yml) is `{ statements, environment? }`.
 */

const assume = {
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' }],
}

const writeLog = (group) => ({
  Effect: 'Allow',
  Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
  Resource: { 'Fn::GetAtt': [group, 'Arn'] },
})

module.exports = class Grants {
  constructor(serverless) {
    this.serverless = serverless
    const grants = Object.keys(serverless.configurationInput.custom.grants)
    serverless.configSchemaHandler.defineFunctionProperties('aws', {
      properties: { uses: { type: 'array', items: { enum: grants }, uniqueItems: true } },
    })
    this.hooks = { 'before:package:initialize': () => this.grant() }
  }

  grant() {
    const { service } = this.serverless
    const { naming } = this.serverless.getProvider('aws')
    const roles = {}
    for (const name of service.getAllFunctions()) {
      const target = service.getFunction(name)
      const grants = (target.uses ?? []).map((grant) => service.custom.grants[grant])
      const role = naming.getLambdaLogicalId(name).replace(/LambdaFunction$/, 'Role')
      const Statement = [writeLog(naming.getLogGroupLogicalId(name)), ...grants.flatMap((grant) => grant.statements)]
      roles[role] = {
        Type: 'AWS::IAM::Role',
        Properties: {
          AssumeRolePolicyDocument: assume,
          Policies: [{ PolicyName: 'uses', PolicyDocument: { Version: '2012-10-17', Statement } }],
        },
      }
      target.role = role
      target.environment = Object.assign({}, ...grants.map((grant) => grant.environment), target.environment)
    }
    service.resources.Resources = { ...service.resources.Resources, ...roles }
  }
}
