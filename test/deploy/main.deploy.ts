/**
 * Deploys the packaged template with the command of the project on an emulator that enforces the roles.
 * The emulator lacks the following features, which other tests cover:
 * - streamed responses, and the authorizer's context in responses of the gateway: see the tests below that name them;
 * - conditions of roles on partitions, metrics, alarms and log searches: test/infra/roleenforcement.dynamodb.ts;
 * - throttling: test/infra/local/gateway/throttle.test.ts;
 * - point-in-time recovery: test/infra/restore.dynamodb.ts, which starts with a copy;
 * - reserved concurrency: test/infra/settings.test.ts.
 */
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { expect, test } from 'vitest'
import { describeApi } from './api.ts'
import { describeEvents } from './events.ts'
import { describeOperations } from './operations.ts'
import { at, confidential, page, shell, stage, status, untested, useDeployment } from './place.ts'

useDeployment('throttle-rate=100', 'signing-keys=1')

test('deploy prints the URLs and what it created', () => {
  expect(at.said).toEqual({
    url: expect.stringMatching(/^https:\/\/.*\/e2e\/kubernetes\/management$/),
    table: expect.stringMatching(/^keyplane-e2e-/),
    pepper: 'made',
    'first key': `made, in secret keyplane/${stage}/access-key`,
    alarms: expect.stringContaining('keyplane-e2e-alarms'),
  })
})

test('a deployment with a wrong setting fails before anything is deployed', async () => {
  await expect(at.deploy('throttle-rate=fast')).rejects.toThrow(
    'the setting throttle-rate must be an integer from 1 to 10000',
  )
  await expect(at.osls('package', '--param', 'throtle-rate=100')).rejects.toMatchObject({
    stdout: expect.stringContaining('there is no setting throtle-rate'),
  })
})

// threat: people-9
test('the deployer needs only the rights of its policy', async () => {
  const credentials = {
    accessKeyId: at.deployer.AWS_ACCESS_KEY_ID ?? '',
    secretAccessKey: at.deployer.AWS_SECRET_ACCESS_KEY ?? '',
  }
  const secrets = new SecretsManagerClient({ endpoint: at.emulator.url, region: 'eu-central-1', credentials })
  const read = new GetSecretValueCommand({ SecretId: `keyplane/${stage}/access-key` })
  await expect(secrets.send(read)).rejects.toThrow('not authorized')
  secrets.destroy()
})

describeApi()
describeEvents()
describeOperations()

// threat: people-8
test('remove asks for the stage and removes nothing after a different answer', async () => {
  const inTerminal = "python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) != 0)'"
  const command = `echo prod | ${inTerminal} npm run --silent remove -- --stage ${stage} --region eu-central-1 --delete-audit-records`
  const stdout = expect.stringMatching(/Type the stage, e2e, to remove it: .*nothing was removed/s)
  await expect(at.run('bash', ['-c', command])).rejects.toMatchObject({ stdout })
  expect(await status('/version', '')).toBe(200)
})

// threat: deployment-9
test('remove keeps what cannot be recreated and says so, and the rest can be deleted by hand', async () => {
  await expect(at.npm('remove', '--yes')).rejects.toThrow('the logs have audit records')
  expect(await status('/version', '')).toBe(200)
  const said = await at.npm('remove', '--yes', '--delete-audit-records')
  const outputNamed = (what: string) => new RegExp(`^${what} +(\\S+)$`, 'm').exec(said)?.[1] ?? ''
  const [table, pepper, signingKey] = [outputNamed('table'), outputNamed('pepper'), outputNamed('signing key')]
  expect(table).toBe(at.said.table)
  expect(await status('/version', '')).toBe(404)
  confidential.push(...Object.values<string>(JSON.parse(await at.secretText(pepper)).peppers))
  const given = { TABLE: table, PEPPER: pepper, 'SIGNING-KEY': signingKey }
  expect(await shell(page('Removing a stage', 0, given))).toContain('DeletionDate')
  await expect(shell(`aws dynamodb describe-table --table-name ${table}`)).rejects.toThrow('ResourceNotFoundException')
})

test('no command prints anything confidential', () => {
  expect(confidential.length).toBeGreaterThan(5)
  for (const text of confidential) expect(at.printed.join('\n')).not.toContain(text)
})

test('every command of the pages is tested', () => {
  const elsewhere = [
    // release.deploy.ts
    'CDK 0',
    'CloudFormation 0',
    // test/server/operationspages.docs.ts
    'Pepper 2',
    // The tests of later deployments deploy so.
    'Signing keys 0',
    'Signing keys 1',
    'Signing keys 2',
    // release.deploy.ts
    'The first key 0',
    // Only API Gateway itself needs it.
    'The rules of an account 0',
    // A setting as those of the signing keys. What it prints is in test/infra/deploy.test.ts.
    'Unused keys 0',
    // release.deploy.ts
    'Uploading 0',
  ]
  // Tests with kubectl may be skipped.
  const withKubectl = ['Preparing the shell 1', 'Preparing the shell 2', 'Revoking 0']
  expect(
    untested()
      .filter((one) => !withKubectl.includes(one))
      .sort(),
  ).toEqual(elsewhere)
})
