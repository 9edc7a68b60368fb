/**
 * Runs the commands of the operations pages on a deployment of the emulator, with the AWS command line and kubectl. The
 * emulator ignores log filters and the time of a table restore (it copies the current table). It cannot stream lists, which
 * test/server/operations.test.ts covers.
 */
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { additions } from '../infra/everysetting.ts'
import { checks } from '../smoke/checks.ts'
import { readPage } from '../support/commands.ts'
import { describeKubectl } from '../support/kubectl.ts'
import { type Deployed, startDeployed } from './deployed.ts'
import { installed } from './emulator.ts'
import { describeEvents } from './events.ts'

const stage = 'ops'
const { blocks, commandsOf } = await readPage(
  'docs/deploying.md',
  'docs/monitoring.md',
  'docs/keys-and-rotation.md',
  'docs/recovery.md',
)
const keys = '/apis/management.platform/v1/ownedaccesskeys'

let at: Deployed
let folder: string
/** The folder of the AWS command line. */
let bin: string
const place = (name: string) => join(folder, name)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyplane-operations-'))
  ;[bin, at] = await Promise.all([installed('aws'), startDeployed(stage)])
  await writeFile(place('ca.crt'), at.certificateAuthority)
}, 300_000)
afterAll(async () => {
  await at?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** The code blocks that tests run. All must be covered. */
const known = new Set<string>()
function page(heading: string, index: number, given: Record<string, string> = {}): string {
  known.add(`${heading} ${index}`)
  return commandsOf(heading, index, given)
}

const begin = page('Preparing the shell', 0, { 'STAGE=prod': `STAGE=${stage}` })
// This version of the command line ignores the endpoint in its environment for queues.
const elsewhere = 'aws() { command aws --endpoint-url "$AWS_ENDPOINT_URL" "$@"; }\n'

/** Runs commands in one shell after the first ones of the page, and stops at the first failure. */
const shell = (...commands: string[]): Promise<string> =>
  at.run('bash', ['-euo', 'pipefail', '-c', [elsewhere, begin, ...commands].join('\n')], {
    PATH: [bin, process.env.KUBEBUILDER_ASSETS, process.env.PATH].filter(Boolean).join(delimiter),
    KUBECONFIG: place('kubeconfig'),
    // kubectl, and the smoke checks.
    SSL_CERT_FILE: place('ca.crt'),
    NODE_EXTRA_CA_CERTS: place('ca.crt'),
  })

const keyObject = (name: string) => ({
  apiVersion: 'management.platform/v1',
  kind: 'OwnedAccessKey',
  metadata: { name },
  spec: {},
})

async function makeKey(name: string, token = at.adminKey, query = ''): Promise<string> {
  const answer = await at.client.call(keys + query, { method: 'POST', body: keyObject(name), token })
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)])
  return answer.json.spec.key
}

const statusOf = async (name: string, token: string) => (await at.client.call(`${keys}/${name}`, { token })).status

describeEvents({
  shell: (...commands) => shell(`cd ${folder}`, ...commands),
  makeKey,
  // Before a test gives it a domain.
  url: () => at.said.url ?? '',
})

test('smoke checks work with a key that is in no file', async () => {
  // The emulator cannot pass all checks.
  const commands = `${page('Deploying a stage', 0, { URL: at.url })
    .replace(/^npm run deploy .*\n/, '')
    .trimEnd()} || true`
  const emulated = checks.filter((check) => check.emulated).length
  const said = await shell(`first_key() { printf %s ${at.adminKey}; }`, commands)
  expect(said).toContain(`${emulated} passed, ${checks.length - emulated} failed`)
})

test('a domain becomes the URL and the issuer, and the old URL still works', async () => {
  const { domain, 'certificate-arn': certificate } = additions
  const { host } = new URL(at.said.url ?? '')
  const command = page('A domain', 0, { '--stage prod': `--stage ${stage}`, CERTIFICATE: certificate }).trimEnd()
  const more = '--param provisioned-concurrency=1 --param warm-write-units=8000'
  const said = await at.run('bash', ['-c', `${command} ${more}`], at.deployer)
  const url = `https://${domain}/kubernetes/management`
  expect(said).toMatch(
    new RegExp(`^url {9}${url}\ndns {9}\\S+\\.eu-central-1\\.amazonaws\\.com \\(hosted zone \\w+\\)$`, 'm'),
  )
  const { json } = await at.client.call('/.well-known/openid-configuration', { token: '' })
  expect([json.issuer, json.issuer.includes(host)]).toEqual([url, false])
  expect((await at.client.call('/apis')).status).toBe(200)
  const aliases = `aws lambda list-aliases --function-name keyplane-$STAGE-authorizer --query Aliases[].Name --output text`
  expect(await shell(aliases)).toBe('provisioned\n')
})

test('the rights to deploy can be created as a policy', async () => {
  const said = await shell(page('Rights to deploy', 0, { 'file://infra': `file://${process.cwd()}/infra` }))
  expect(said).toContain('policy/keyplane-deployer')
})

test('an address can subscribe to the alarms', async () => {
  const said = await shell(
    page('Dashboard and logs', 0),
    'aws sns list-subscriptions-by-topic --topic-arn $(resource AlarmTopic)',
  )
  expect(said).toContain('you@example.com')
})

test('the log says why a request failed', async () => {
  const { status, headers } = await at.client.call(keys, { method: 'POST', body: keyObject('No Name') })
  expect(status).toBe(422)
  const said = await shell(page('Dashboard and logs', 1, { 'AUDIT-ID': headers['audit-id'] ?? 'none' }))
  expect(said).toContain(`"requestId":"${headers['audit-id']}"`)
})

test('the dead-letter queue can be emptied after a run of the collector', async () => {
  const queue = 'aws sqs get-queue-attributes --queue-url $(resource UncollectedChanges) --attribute-names All'
  const said = await shell(
    'aws sqs send-message --queue-url $(resource UncollectedChanges) --message-body given-up',
    queue,
    page('Uncollected changes', 0),
    queue,
  )
  const counts = [...said.matchAll(/"ApproximateNumberOfMessages": "(\d)"/g)].map(([, count]) => count)
  expect(counts).toEqual(['1', '0'])
  expect(said).toMatch(/"message":"garbage collection","source":"schedule".*"failed":0/)
})

test('the credentials of a virtual cluster can be changed', async () => {
  await writeFile(place('kubeconfig.new'), 'new')
  await shell(
    `aws secretsmanager create-secret --name keyplane/${stage}/virtualclusters/p-shop/dev --secret-string old`,
    page('Credentials of virtual clusters', 0, { 'file://kubeconfig': `file://${place('kubeconfig.new')}` }),
  )
  expect(await at.secretText(`keyplane/${stage}/virtualclusters/p-shop/dev`)).toBe('new')
})

describeKubectl('with kubectl', () => {
  test("the first key is an administrator's", async () => {
    const config = page('Preparing the shell', 1, {
      '"URL"': `"${at.url}"`,
    })
    const said = await shell(config, 'kubectl auth whoami -o jsonpath={.status.userInfo.groups}', 'echo " $KUBECONFIG"')
    expect(said).toContain('system:masters')
    const file = said.trim().split(' ').at(-1) ?? ''
    expect((await stat(file)).mode & 0o077).toBe(0)
    expect(file).not.toContain(process.cwd())
    await shell(`KUBECONFIG=${file}`, page('Preparing the shell', 2))
    await expect(stat(file)).rejects.toThrow('ENOENT')
    // For the tests that follow.
    await shell(config.replace(/^export KUBECONFIG=.*$/m, `export KUBECONFIG=${place('kubeconfig')}`))
  })

  test('one key can be disabled', async () => {
    const token = await makeKey('one')
    await shell(page('Revoking', 0, { NAME: 'one' }))
    expect(await statusOf('one', token)).toBe(401)
  })

  test('exactly the keys that were created with one key can be disabled', async () => {
    const parent = await makeKey('parent')
    const made = await makeKey('made', parent)
    const other = await makeKey('other')
    await makeKey('other-2', parent, '?dryRun=All')
    const said = await shell(page('Revoking', 2, { NAME: 'parent' }))
    expect(said).toBe('ownedaccesskey.management.platform/made patched\n')
    expect(await statusOf('made', made)).toBe(401)
    expect(await statusOf('other', other)).toBe(200)
  })
})

const placed = (...names: string[]) => Object.fromEntries(names.map((name) => [name, place(name)]))
const closing = () => page('Restoring the table', 0, placed('stage.json', 'patch.json'))

test('restoring a table stops all writes, and revoked keys stay revoked', async () => {
  const [mistake, leaked] = [await makeKey('mistake'), await makeKey('leaked')]
  const stops = 'aws lambda get-function-concurrency --function-name keyplane-$STAGE-sweep'
  // The emulator does not find the settings of single methods, because it decodes their paths in patches only:
  // test/infra/throttles.test.ts closes those.
  const all = `'methodSettings."*/*".throttlingRateLimit'`
  const limits = `aws apigateway get-stage --rest-api-id $API --stage-name $STAGE --query ${all}`
  const closed = await shell(closing(), page('Restoring the table', 1), limits, stops)
  expect(closed).toContain('"ReservedConcurrentExecutions": 0')
  expect(closed).toContain('\n0.0\n')
  for (const name of ['mistake', 'leaked']) await at.client.call(`${keys}/${name}`, { method: 'DELETE' })

  await writeFile(place('revoked.txt'), 'leaked\n')
  const opened = await shell(
    closing().split('\n', 1).join(),
    page('Restoring the table', 2, { 'revoked.txt': place('revoked.txt') }),
    closing().split('\nstop()')[0] ?? '',
    page('Restoring the table', 3, placed('revoked.txt', 'stage.json', 'patch.json')),
    limits,
    stops,
  )
  expect(opened).toMatch(/items written, \d+ removed, keys not restored: leaked$/m)
  expect(opened).toContain('\n500.0\n')
  expect(opened).not.toContain('ReservedConcurrentExecutions')
  expect(await statusOf('mistake', mistake)).toBe(200)
  expect(await statusOf('leaked', leaked)).toBe(401)
})

test('the API stays open when Lambda refuses to stop the functions that write', async () => {
  // The emulator refuses nothing.
  const refusing = `aws() {
    if [[ $2 == put-function-concurrency ]]; then echo 'InvalidParameterValueException: refused' >&2; return 254; fi
    command aws --endpoint-url "$AWS_ENDPOINT_URL" "$@"
  }\n`
  const rate = 'aws apigateway get-stage --rest-api-id $API --stage-name $STAGE'
  const said = await shell(refusing, `{ ${closing()} } 2>&1`, rate)
  expect(said).toContain('InvalidParameterValueException: refused\nREFUSED: functions still write')
  expect(said).toContain('"throttlingRateLimit": 500.0')
})

test('removing a rotated pepper invalidates all earlier keys and creates a new first key', async () => {
  const current = async () => JSON.parse(await at.secretText(await pepper()))
  const pepper = async () => (await shell('resource Pepper')).trim()
  const old = await makeKey('old')
  const { peppers: before } = await current()
  const version = /^"[\w-]+"\n$/
  expect(await shell(page('Pepper', 0))).toMatch(version)
  expect(await current()).toEqual({ current: '1', peppers: { ...before, 2: expect.stringMatching(/^[\w+/]{43}=$/) } })
  const [functions] = page('Pepper', 0).split('\nchange "')
  expect(await shell(functions ?? '', page('Pepper', 1))).toMatch(version)
  expect((await current()).current).toBe('2')
  expect(await statusOf('old', old)).toBe(200)
  expect(await shell(functions ?? '', page('Pepper', 3))).toMatch(version)
  expect(Object.keys((await current()).peppers)).toEqual(['2'])

  // Functions read it immediately after a deployment with another setting.
  const said = await at.deploy('max-key-ttl-seconds=7776000')
  expect(said['first key']).toMatch(/^made, /)
  expect(await statusOf('old', old)).toBe(401)
  expect(await statusOf('old', at.adminKey)).toBe(401)
})

test('bootstrap creates a first key only when no administrator key works', async () => {
  const first = page('Preparing the shell', 1).split('\n', 1).join()
  const run = () => shell(first, page('Break glass', 0, { '--stage prod': `--stage ${stage}` }))
  const kept = await run()
  expect(kept).toMatch(/"accessKey": "kept"/)
  const key = kept.trim().split('\n').at(-1) ?? ''
  const { json } = await at.client.call('/apis/management.platform/v1/selves', { method: 'POST', body: {}, token: key })
  const { status } = await at.client.call(`${keys}/${json.status.accessKey}`, { method: 'DELETE', token: key })
  expect(status).toBe(200)
  const made = await run()
  expect(made).toMatch(/"accessKey": "made"/)
  expect(await statusOf('old', made.trim().split('\n').at(-1) ?? '')).toBe(200)
})

test('resources that a removal keeps can be deleted by hand', async () => {
  const said = await at.npm('remove', '--yes')
  const outputNamed = (what: string) => new RegExp(`^${what} +(\\S+)$`, 'm').exec(said)?.[1] ?? ''
  const table = outputNamed('table')
  const given = { TABLE: table, PEPPER: outputNamed('pepper'), 'SIGNING-KEY': outputNamed('signing key') }
  expect(await shell(page('Removing a stage', 0, given))).toContain('DeletionDate')
  await expect(shell(`aws dynamodb describe-table --table-name ${table}`)).rejects.toThrow('ResourceNotFoundException')
})

test('every command of the page is tested', () => {
  const elsewhere = [
    // test/server/operations.test.ts
    'Pepper 2',
    'Revoking 1',
    // test/deploy/main.deploy.ts deploys so
    'Signing keys 0',
    'Signing keys 1',
    'Signing keys 2',
  ]
  const all = [...blocks].flatMap(([heading, { length }]) =>
    Array.from({ length }, (_, index) => `${heading} ${index}`),
  )
  // Tests with kubectl may be skipped.
  const withKubectl = ['Preparing the shell 1', 'Preparing the shell 2', 'Revoking 0', 'Revoking 2']
  expect(all.filter((one) => !known.has(one) && !withKubectl.includes(one)).sort()).toEqual(elsewhere)
})
