/** Deploys the files of a release with the commands of docs/deploying.md, which use nothing else of this repository. */
import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { readExample } from '../support/examples.ts'
import { madeOnce } from '../support/madeonce.ts'
import { compiling, installed } from './emulator.ts'
import { at, page, shell, statusIn, useRelease } from './releasestack.ts'
import { describeRollouts } from './rollouts.ts'

useRelease(['OwnedaccesskeysDashcreateAlias'])

test('the files deploy, and serve the first key', async () => {
  await shell('aws s3 mb s3://artifacts', page('Uploading'), page('CloudFormation'))
  expect(await statusIn('prod')).toBe(404)
  const variables = await shell(
    'aws lambda get-function-configuration --function-name keyplane-prod-authorizer --query Environment.Variables',
  )
  expect(JSON.parse(variables)).toMatchObject({ MAX_KEY_TTL_SECONDS: '7776000', STAGE: 'prod' })
})

test('CloudFormation refuses a wrong value, and a setting without the one that it requires', async () => {
  const update = (parameters: string) =>
    shell(`{ ${page('CloudFormation').replace(/MaxKeyTtlSeconds=\S+/, parameters)} } 2>&1 || true`)
  expect(await update('MaxKeyTtlSeconds=day')).toContain('MaxKeyTtlSeconds')
  expect(await update('Domain=keys.example.com')).toContain('Domain requires CertificateArn')
})

test('a later deployment changes the parameters that it names, and keeps the others', async () => {
  await shell(page('CloudFormation').replace(/MaxKeyTtlSeconds=\S+/, 'LogRetentionDays=365'))
  const groups = await shell('aws logs describe-log-groups --query logGroups[].retentionInDays --output json')
  expect(new Set(JSON.parse(groups))).toEqual(new Set([365]))
  const variables = await shell(
    'aws lambda get-function-configuration --function-name keyplane-prod-authorizer --query Environment.Variables',
  )
  expect(JSON.parse(variables)).toMatchObject({ MAX_KEY_TTL_SECONDS: '7776000' })
})

interface Template {
  Parameters: Record<string, object>
  Resources: Record<string, { DependsOn?: string | string[] }>
  Rules: object
}

const released = async (): Promise<Template> =>
  JSON.parse(await readFile(join(at.folder, 'files/keyplane.template.json'), 'utf8'))

/** The parameters of the command, without the setting that it has as an example. */
const parameters = () => {
  const given = [...page('CloudFormation').matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value])
  const { MaxKeyTtlSeconds: _, ...others } = Object.fromEntries(given)
  return others
}

/** Returns the resources with one form of dependencies, which have no order. */
const comparable = ({ Resources }: Template) =>
  Object.fromEntries(
    Object.entries(Resources).map(([id, { DependsOn = [], ...rest }]) => [
      id,
      { ...rest, DependsOn: [DependsOn].flat().sort() },
    ]),
  )

// What a stack of the same template and parameters does, the tests of the command above and of rollouts have.
test('the app of CDK deploys the resources and parameters of the file', async () => {
  const packages = ['aws-cdk-lib@2.276.0', 'constructs@10.8.1']
  const installedIn = await madeOnce(`cdk/${packages.join('-')}`, async (prefix) => {
    const options = ['--silent', '--no-audit', '--no-fund', '--prefix', prefix]
    await promisify(execFile)('npm', ['install', ...options, ...packages])
  })
  const app = join(at.folder, 'cdk')
  await mkdir(app)
  await symlink(join(installedIn, 'node_modules'), join(app, 'node_modules'))
  await copyFile(join(at.folder, 'files/keyplane.template.json'), join(app, 'keyplane.template.json'))
  await writeFile(join(app, 'app.mts'), await readExample('deploy/app.mts'))
  // As the command line of CDK runs it, without a linter that takes ten times as long.
  await shell(`cd ${app}`, `CDK_VALIDATION=false CDK_OUTDIR=cdk.out '${process.execPath}' app.mts`)
  const made: Template = JSON.parse(await readFile(join(app, 'cdk.out/keyplane-prod.template.json'), 'utf8'))
  const original = await released()
  expect(comparable(made)).toEqual(comparable(original))
  // What CDK adds looks at what `cdk bootstrap` leaves in an account.
  const { BootstrapVersion: _, ...Parameters } = made.Parameters
  expect({ ...made, Parameters }).toEqual({
    ...original,
    Resources: made.Resources,
    Rules: { ...original.Rules, CheckBootstrapVersion: expect.anything() },
  })
  const given = [...page('CDK').matchAll(/--parameters (\w+)=(\S+)/g)].map(([, name, value]) => [name, value])
  expect(Object.fromEntries(given)).toEqual(parameters())
})

// No package registry has the AWS provider. It calls CreateStack with these arguments.
test('the arguments in the resource of Terraform and OpenTofu are those of the command, and deploy', async () => {
  const python = join(await installed('hcl'), 'python')
  const file = join(at.folder, 'main.tf')
  await writeFile(file, await readExample('deploy/main.tf', { BUCKET: 'artifacts' }))
  const script = 'import hcl2, json, sys; print(json.dumps(hcl2.load(open(sys.argv[1]))))'
  const { stdout } = await promisify(execFile)(python, ['-c', script, file], { env: { ...process.env, ...compiling } })
  // The parser keeps the quotation marks of texts.
  const { resource } = JSON.parse(stdout.replaceAll('\\"', '')) as {
    resource: Record<string, { keyplane: StackResource }>[]
  }
  const stack = resource[0]?.aws_cloudformation_stack?.keyplane as StackResource
  const [, uploaded = ''] = /s3:\/\/artifacts\/(\S+\.template\.json)/.exec(page('Uploading')) ?? []
  expect(stack).toMatchObject({
    name: /--stack-name (\S+)/.exec(page('CloudFormation'))?.[1],
    template_url: `https://artifacts.s3.eu-central-1.amazonaws.com/${uploaded}`,
    capabilities: [/--capabilities (\S+)/.exec(page('CloudFormation'))?.[1]],
    parameters: parameters(),
  })
  // The emulator knows no hosts of buckets.
  const url = `${at.emulator.url}/artifacts/${uploaded}`
  const given = Object.entries({ ...stack.parameters, Stage: 'tofu' })
  const values = given.map(([name, value]) => `ParameterKey=${name},ParameterValue=${value}`).join(' ')
  await shell(
    `aws cloudformation create-stack --stack-name keyplane-tofu --template-url ${url} --capabilities ${stack.capabilities} --parameters ${values}`,
    'aws cloudformation wait stack-create-complete --stack-name keyplane-tofu',
  )
  expect(await statusIn('tofu')).toBe(404)
})

interface StackResource {
  name: string
  template_url: string
  capabilities: readonly string[]
  parameters: Readonly<Record<string, string>>
}

describeRollouts()
