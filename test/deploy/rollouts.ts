/** Tests of rollouts. The emulator shifts aliases as CodeDeploy does (startministack.py), and a writer sets the alarm as CloudWatch does. */
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { archiver } from '../../infra/archive.ts'
import { type Api, apiOf, at, environment, page, shell } from './releasestack.ts'

const keys = '/apis/management.platform/v1/ownedaccesskeys'
const deploy = () => page('CloudFormation').replace(/MaxKeyTtlSeconds=\S+/, 'LogRetentionDays=365')
const template = () => join(at.folder, 'files/keyplane.template.json')

/** The template as it was released. */
let original: string | undefined

/** Puts another release in the place of the template: the same functions, except those in `code`. */
async function makeRelease(name: string, code: Readonly<Record<string, string>> = {}): Promise<void> {
  original ??= await readFile(template(), 'utf8')
  const { Resources, ...rest } = JSON.parse(original)
  Resources.Release.Properties.Release = name
  for (const [id, text] of Object.entries(code)) {
    const { Code, Handler } = Resources[id].Properties
    const archive = archiver()({ [Handler.replace(/\.\w+$/, '.mjs')]: Buffer.from(text) })
    await writeFile(join(at.folder, 'other.zip'), archive)
    await shell(`aws s3 cp --quiet ../other.zip s3://artifacts/keyplane/${id}.zip`)
    Code.S3Key = { 'Fn::Sub': `\${ArtifactPrefix}${id}.zip` }
  }
  await writeFile(template(), JSON.stringify({ Resources, ...rest }))
}

/** Returns the release that requests for a function get. */
async function releaseOf(name: string): Promise<string> {
  const call = `aws lambda get-function-configuration --function-name keyplane-prod-${name} --qualifier live --query Description --output text`
  return (await shell(call)).trim()
}

/**
 * The emulator starts a process for each request that another one does not leave free. With many more writers, a busy machine would
 * start all these processes at once, and requests would exceed their time.
 */
const WRITERS = 4

/** Keys that each writer creates after the deployment: some must be there, however slow the machine is. */
const AFTERWARDS = 10

/**
 * Creates keys until `stop`, and a few more. `stop` returns the names that were acknowledged. `failed` is told of each 5xx, and the
 * writer waits for it.
 */
function write(api: Api, failed: (answer: string) => Promise<unknown>) {
  const acknowledged: string[] = []
  const started = Date.now()
  let isOver = false
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let count = 0, left = AFTERWARDS; left > 0; count++) {
      if (isOver) left--
      const name = `rollout-${started}-${writer}-${count}`
      const body = JSON.stringify({ metadata: { name }, spec: { user: 'alice' } })
      const answer = await api(keys, { method: 'POST', body })
      if (answer.status === 201) acknowledged.push(name)
      if (answer.status >= 500) await failed(`${answer.status} ${await answer.text()}`)
    }
  })
  return async () => {
    isOver = true
    await Promise.all(writers)
    return acknowledged
  }
}

/**
 * Deploys beside writers, and sets the alarm at its threshold as CloudWatch does. Returns the keys that were acknowledged. Writers
 * with a failure wait for the alarm, so that they do not complete the rollout before a busy machine has set it.
 */
async function deployBesideWriters(command: string) {
  const failures: string[] = []
  let alarm: Promise<string> | undefined
  const stop = write(await apiOf('prod'), async (answer) => {
    if (failures.push(answer) === 5) alarm = setAlarm('ALARM')
    await alarm
  })
  const error = await shell(command).then(
    () => undefined,
    (cause: Error) => cause,
  )
  await alarm
  return { acknowledged: await stop(), failures, error }
}

const setAlarm = (state: string) =>
  shell(
    `aws cloudwatch set-alarm-state --alarm-name keyplane-prod-rollout-errors --state-value ${state} --state-reason test`,
  )

const rollback = (...options: readonly string[]) =>
  promisify(execFile)(
    'npm',
    ['run', '--silent', 'rollback', '--', '--stage', 'prod', '--region', 'eu-central-1', ...options],
    {
      env: environment(),
      cwd: join(import.meta.dirname, '../..'),
    },
  )

/** Defines the tests. Stage prod is deployed. */
export function describeRollouts(): void {
  describe('a rollout', () => {
    // threat: deployment-4
    test('of a function that fails goes back by itself, and loses nothing that was acknowledged', async () => {
      const api = await apiOf('prod')
      const before = await releaseOf('ownedaccesskeys-create')
      await makeRelease('0.2.1 broken', {
        OwnedaccesskeysDashcreateLambdaFunction: 'export const handler = async () => { throw new Error("broken") }',
      })
      const { acknowledged, error } = await deployBesideWriters(deploy())
      expect(error?.message ?? '').toContain('Failed to create/update the stack')
      await setAlarm('OK')
      const call =
        'aws cloudformation describe-stacks --stack-name keyplane-prod --query Stacks[0].StackStatus --output text'
      expect(await shell(call)).toBe('UPDATE_ROLLBACK_COMPLETE\n')
      expect([await releaseOf('ownedaccesskeys-create'), await releaseOf('authorizer')]).toEqual([before, before])
      expect(acknowledged.length).toBeGreaterThan(20)
      // One after another: the emulator has few processes.
      for (const name of acknowledged) expect([name, (await api(`${keys}/${name}`)).status]).toEqual([name, 200])
      const body = JSON.stringify({ metadata: { name: 'afterwards' }, spec: { user: 'alice' } })
      for (let count = 0; count < 30; count++)
        expect((await api(`${keys}?dryRun=All`, { method: 'POST', body })).status).toBe(201)
    })

    test('publishes every function, and can be taken back by hand', async () => {
      const before = await releaseOf('authorizer')
      await makeRelease('0.2.1 good')
      expect(await deployBesideWriters(deploy())).toMatchObject({ failures: [], error: undefined })
      const after = await releaseOf('authorizer')
      expect([after, await releaseOf('sweep')]).toEqual([expect.stringMatching(/^0\.2\.1 good [0-9a-f]{16}$/), after])
      expect((await rollback('--list')).stdout.split('\n').slice(0, 2)).toEqual([after, before])
      expect((await rollback()).stdout).toMatch(
        new RegExp(`^from        ${after}\nto          ${before}\nfunctions   \\d{2} moved\n$`),
      )
      expect([await releaseOf('authorizer'), await releaseOf('sweep')]).toEqual([before, before])
      expect((await (await apiOf('prod'))(`${keys}/afterwards`)).status).toBe(404)
    })

    test('of a changed setting is a release too', async () => {
      // CodeDeploy would refuse the aliases, which are not at the versions of the stack.
      const command = deploy().replace('LogRetentionDays=365', 'MaxKeyTtlSeconds=86400 Rollout=all-at-once')
      expect(await deployBesideWriters(command)).toMatchObject({ failures: [], error: undefined })
      const call =
        'aws lambda get-function-configuration --function-name keyplane-prod-authorizer --qualifier live --query Environment.Variables'
      expect(JSON.parse(await shell(call))).toMatchObject({ MAX_KEY_TTL_SECONDS: '86400' })
    })
  })
}
