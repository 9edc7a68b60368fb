/**
 * Connects the functions with the grant `network` to the subnets and security groups of the settings, and those with the
 * grant `issuers` if issuers may be at private addresses. Lambda creates their network interfaces with the role of the function.
 * The code of the function shares that role, so it is denied the same.
 * Source: "Giving Lambda functions access to resources in an Amazon VPC", execution role permissions and condition keys.
 */

const { onlyIf, split } = require('./intrinsics.cjs')

const actions = [
  'ec2:AssignPrivateIpAddresses',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:UnassignPrivateIpAddresses',
]

/** The condition of each grant, from infra/template/conditions.yml. */
const conditions = { network: 'HasVpc', issuers: 'HasVpcForIssuers' }

const arnOf = (name) => ({
  'Fn::Sub': `arn:\${AWS::Partition}:lambda:\${AWS::Region}:\${AWS::AccountId}:function:${name}`,
})

module.exports = class Network {
  constructor(serverless) {
    const { service } = serverless
    const { naming } = serverless.getProvider('aws')
    this.hooks = {
      'before:package:initialize': () => this.grant(service),
      'before:aws:package:finalize:saveServiceState': () => {
        const { Resources } = service.provider.compiledCloudFormationTemplate
        for (const [grant, condition] of Object.entries(conditions)) {
          for (const name of usersOf(service, grant)) {
            const network = { SubnetIds: split('VpcSubnets'), SecurityGroupIds: split('VpcSecurityGroups') }
            Resources[naming.getLambdaLogicalId(name)].Properties.VpcConfig = onlyIf(condition, network)
          }
        }
      },
    }
  }

  grant(service) {
    for (const [grant, condition] of Object.entries(conditions)) {
      const names = usersOf(service, grant).map((name) => arnOf(service.getFunction(name).name))
      const byCode = { ArnEquals: { 'lambda:SourceFunctionArn': names } }
      const allow = { Effect: 'Allow', Action: actions, Resource: '*' }
      const deny = { Effect: 'Deny', Action: actions, Resource: '*', Condition: byCode }
      service.custom.grants[grant] = { statements: [onlyIf(condition, allow), onlyIf(condition, deny)] }
    }
  }
}

/** Returns the functions with a grant. */
const usersOf = (service, grant) =>
  service.getAllFunctions().filter((name) => (service.getFunction(name).uses ?? []).includes(grant))
