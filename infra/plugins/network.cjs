/**
 * Connects the functions with the grant `network` to the subnets and security groups of the settings, and those with the
 * grant `issuers` if issuers may be at private addresses. Lambda creates their network interfaces with the role of the function. The code of the function shares that role, so it is denied the same.
 * Source: "Giving Lambda functions access to resources in an Amazon VPC", execution role permissions and condition keys.
 */

const actions = [
  'ec2:AssignPrivateIpAddresses',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:UnassignPrivateIpAddresses',
]

const arnOf = (name) => ({
  'Fn::Sub': `arn:\${AWS::Partition}:lambda:\${AWS::Region}:\${AWS::AccountId}:function:${name}`,
})

module.exports = class Network {
  constructor(serverless) {
    this.hooks = { 'before:package:initialize': () => this.connect(serverless.service) }
  }

  connect(service) {
    const { settings, grants } = service.custom
    const { 'vpc-subnets': subnets, 'vpc-security-groups': groups } = settings
    const statements = []
    grants.network = { statements }
    grants.issuers = { statements: settings['allow-private-issuers'] ? statements : [] }
    if (!subnets) return
    const connected = service
      .getAllFunctions()
      .map((name) => service.getFunction(name))
      .filter(({ uses = [] }) => uses.some((name) => grants[name].statements === statements))
    for (const target of connected) {
      target.vpc = { subnetIds: subnets.split(','), securityGroupIds: groups.split(',') }
    }
    const byCode = { ArnEquals: { 'lambda:SourceFunctionArn': connected.map(({ name }) => arnOf(name)) } }
    statements.push(
      { Effect: 'Allow', Action: actions, Resource: '*' },
      { Effect: 'Deny', Action: actions, Resource: '*', Condition: byCode },
    )
  }
}
