/** The functions of a deployment, each with a log group and a role of its own. */
import { BASE_PATH } from '../../lib/clusters/deployment.ts'
import { type DeployedFunction, functions } from '../functions.ts'
import { parameterOf, variableOf } from '../settings/setting.ts'
import { groups } from '../settings/table.ts'
import { functionsPolicy, logGroup, ofFunctions, role } from './account.ts'
import { queueOf } from './events.ts'
import { stream } from './grants.ts'
import {
  allow,
  arn,
  att,
  either,
  named,
  onlyIf,
  policy,
  type Resources,
  ref,
  split,
  sub,
  trusts,
  type Value,
} from './intrinsics.ts'
import { following, release } from './rollouts.ts'

/** Where clients reach the API, which may differ from the issuer. */
export const url = either(
  'HasDomain',
  sub(`https://\${Domain}${BASE_PATH}`),
  sub(`https://\${Api}.execute-api.\${AWS::Region}.\${AWS::URLSuffix}/\${Stage}${BASE_PATH}`),
)

const variables: Readonly<Record<string, Value>> = {
  STAGE: ref('Stage'),
  BASE_PATH,
  API_URL: url,
  // Never derived from a request. The discovery document is served at ISSUER/.well-known/openid-configuration.
  ISSUER: either('HasIssuer', ref('Issuer'), url),
}

const ofRelease = ({ unversioned }: DeployedFunction) => (unversioned ? {} : { RELEASE: release })

const settingsOf = ({ name }: DeployedFunction) =>
  Object.fromEntries(
    groups
      .filter(({ functions: having }) => having === 'all' || having?.includes(name))
      .flatMap(({ settings }) => Object.keys(settings))
      .map((setting) => [variableOf(setting), ref(parameterOf(setting))]),
  )

const grantsOf = ({ uses = [], stream: records }: DeployedFunction) =>
  records === undefined ? uses : [...uses, stream(queueOf(records))]

const networkOf = ({ uses = [] }: DeployedFunction) => uses.find(({ network }) => network !== undefined)?.network

/**
 * Lets Lambda create the network interfaces of a function with its role. The code of the function shares that role, so it is denied
 * the same. Source: "Giving Lambda functions access to resources in an Amazon VPC", execution role permissions and condition keys.
 */
function networking(one: DeployedFunction): Value[] {
  const condition = networkOf(one)
  if (condition === undefined) return []
  const actions = [
    'ec2:AssignPrivateIpAddresses',
    'ec2:CreateNetworkInterface',
    'ec2:DeleteNetworkInterface',
    'ec2:DescribeNetworkInterfaces',
    'ec2:DescribeSubnets',
    'ec2:UnassignPrivateIpAddresses',
  ]
  const byCode = { ArnEquals: { 'lambda:SourceFunctionArn': [functionArn(one)] } }
  return [onlyIf(condition, allow(actions, '*')), onlyIf(condition, { ...allow(actions, '*', byCode), Effect: 'Deny' })]
}

/** Lets a function publish those that no rollout shifts. */
const publishing = ({ publishes }: DeployedFunction): Value[] =>
  publishes
    ? [
        allow(
          ['lambda:CreateAlias', 'lambda:PublishVersion', 'lambda:UpdateAlias'],
          following.map((one) => functionArn(one)),
        ),
      ]
    : []

/** Returns the ARN of a function, without a reference to it. */
export const functionArn = ({ name }: DeployedFunction, suffix = '') =>
  arn('lambda', `function:keyplane-\${Stage}-${name}${suffix}`)

/** Returns the environment of a function. */
export const variablesOf = (one: DeployedFunction): Readonly<Record<string, Value>> =>
  Object.assign({}, variables, settingsOf(one), ofRelease(one), ...grantsOf(one).map((grant) => grant.variables))

/** Returns the place of the archive of a function. */
export type CodeOf = (one: DeployedFunction) => Value

export const lambda = (codeOf: CodeOf): Resources =>
  Object.fromEntries(
    functions.flatMap((one) => {
      const { id, name, path, megabytes, seconds, concurrency } = one
      const log = `${id}LogGroup`
      const writesLog = allow(['logs:CreateLogStream', 'logs:PutLogEvents'], att(log, 'Arn'))
      const grants = grantsOf(one)
      const network = networkOf(one)
      return [
        [log, logGroup(sub(`/aws/lambda/keyplane-\${Stage}-${name}`))],
        [
          `${id}Role`,
          role(
            trusts('lambda'),
            {
              uses: policy(
                writesLog,
                ...grants.flatMap(({ statements }) => statements),
                ...networking(one),
                ...publishing(one),
              ),
            },
            { ManagedPolicyArns: functionsPolicy },
          ),
        ],
        [
          `${id}LambdaFunction`,
          {
            Type: 'AWS::Lambda::Function',
            DependsOn: [log],
            Properties: {
              Code: codeOf(one),
              Handler: `functions/${path}.handler`,
              Runtime: 'nodejs24.x',
              FunctionName: named(name),
              MemorySize: megabytes,
              Timeout: seconds,
              Architectures: ['arm64'],
              Environment: { Variables: variablesOf(one) },
              Role: att(`${id}Role`, 'Arn'),
              ...(concurrency && { ReservedConcurrentExecutions: onlyIf(`Has${concurrency}`, ref(concurrency)) }),
              ...ofFunctions,
              ...(network && {
                VpcConfig: onlyIf(network, {
                  SubnetIds: split('VpcSubnets'),
                  SecurityGroupIds: split('VpcSecurityGroups'),
                }),
              }),
            },
          },
        ],
      ]
    }),
  )
