/** Runs the commands of docs/rotation.md and the jobs of examples/rotation. `gh`, `vault` and the API of GitLab are stubs that check what they are sent. */

import { chmod, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CreateSecretCommand,
  DescribeSecretCommand,
  GetSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager'
import { load } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installCommandLine } from '../clients/cli/commandline.ts'
import { type Aws, credentials, region, startAws } from '../support/aws.ts'
import { objectsIn, readExample } from '../support/examples.ts'
import type { Block } from '../support/federationpages.ts'
import { listeningOverTls } from '../support/listeningovertls.ts'
import { keys } from '../support/objects.ts'
import { type Ran, runProgram } from '../support/programs.ts'
import { rotatingOn } from '../support/rotation.ts'
import { startServer, type TestServer } from '../support/server.ts'

const PAGE = 'docs/rotation.md'
const root = join(import.meta.dirname, '../..')
const text = await readFile(join(root, PAGE), 'utf8')

/** Returns the first block of a language below a heading. */
function blockOf(heading: string, language: string): string {
  const [, section = ''] = text.split(new RegExp(`^##+ ${heading}\n`, 'm'))
  const [, block = ''] = new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(section) ?? []
  if (block === '') throw new Error(`no ${language} below ${heading}`)
  return block
}

let server: TestServer
let aws: Aws
let secrets: SecretsManagerClient
let folder: string
let gitlab: Awaited<ReturnType<typeof listeningOverTls>>
/** What the stub of GitLab stored, and what it answers. */
const variables: { KEYPLANE_KEY?: string } = {}
beforeAll(async () => {
  ;[server, aws] = await Promise.all([startServer({}, { unscheduled: true }), startAws()])
  secrets = new SecretsManagerClient({ region, credentials, endpoint: aws.url })
  folder = await mkdtemp(join(tmpdir(), 'keyplane-jobs-'))
  await installCommandLine(folder)
  await writeFile(join(folder, 'rotate.sh'), await readExample('rotation/rotate.sh'))
  await writeFile(join(folder, 'index.mjs'), await readExample('rotation/secrets-manager.mjs'))
  await symlink(join(root, 'node_modules/@aws-sdk'), join(folder, 'node_modules/@aws-sdk'))
  gitlab = await listeningOverTls(async (request, response) => {
    const body = new URLSearchParams(Buffer.concat(await Array.fromAsync(request)).toString())
    const asked = `${request.method} ${request.url} ${request.headers['private-token']}`
    if (asked !== 'PUT /api/v4/projects/20/variables/KEYPLANE_KEY settings-token')
      return void response.writeHead(404).end()
    variables.KEYPLANE_KEY = body.get('value') ?? ''
    response.writeHead(200).end('{}')
  })
  await writeFile(join(folder, 'ca.crt'), `${gitlab.certificateAuthority}\n${server.certificateAuthority}`)
})
afterAll(async () => {
  await gitlab?.stop()
  secrets?.destroy()
  await Promise.all([server?.stop(), aws?.stop()])
  await rm(folder, { recursive: true, force: true })
})

const { rotate, use, values } = rotatingOn(() => server)
const WORKS = [201, undefined]

const here = (script: string) => script.replaceAll('https://keys.example.com/prod/kubernetes/management', server.base)

const runHere = (command: string, args: readonly string[], environment: Record<string, string>): Promise<Ran> =>
  runProgram(command, args, {
    cwd: folder,
    env: {
      HOME: folder,
      PATH: `${folder}:${join(folder, 'node_modules/.bin')}:${process.env.PATH}`,
      KEYPLANE_CA: join(folder, 'ca.crt'),
      CURL_CA_BUNDLE: join(folder, 'ca.crt'),
      NODE_EXTRA_CA_CERTS: join(folder, 'ca.crt'),
      ...environment,
    },
  })

const run = (script: string, environment: Record<string, string>) =>
  runHere('bash', ['-e', '-o', 'pipefail', '-c', script], environment)

/** Installs a program that the platform has, and this project does not. */
async function install(name: string, script: string): Promise<void> {
  await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`)
  await chmod(join(folder, name), 0o755)
}

let count = 0
/** Creates the key of the page under another name, and returns it with its value. */
async function createKey(more: object = {}): Promise<{ name: string; old: string }> {
  const key = load(blockOf('A key that rotates itself', 'yaml')) as Block
  const name = `${key.metadata.name}-${++count}`
  const made = await server.make(keys, { ...key, metadata: { name }, spec: { ...key.spec, user: 'alice', ...more } })
  return { name, old: made.spec.key }
}

const states = async (name: string) => (await values(name)).map(({ state }) => state)

test('the first example rotates a key', async () => {
  const { name, old } = await createKey()
  const { code, stdout, stderr } = await run(blockOf('How it works', 'sh').replace('/ci/', `/${name}/`), {
    BASE: server.base,
    KEY: server.adminKey,
  })
  expect([code, stderr]).toEqual([0, ''])
  expect(await use(JSON.parse(stdout).status.key)).toEqual(WORKS)
  expect(await use(old)).toEqual(WORKS)
})

/** Returns the commands of a page for a key of another name. */
const forKey = (script: string, name: string) => script.replaceAll(/\brotate ci\b/g, `rotate ${name}`)

/** Forgets what a run has left, as the runner of a job does. */
const newRunner = () => rm(join(folder, '.local'), { recursive: true, force: true })

describe('GitHub Actions secrets', async () => {
  const [workflow] = await objectsIn('rotation/github.yaml')
  const [, , step] = workflow.jobs.rotate.steps
  const environment = (KEYPLANE_KEY: string) => ({
    KEYPLANE_URL: here(step.env.KEYPLANE_URL),
    KEYPLANE_KEY,
    GH_TOKEN: 'token',
    GITHUB_REPOSITORY: 'octo-org/shop',
  })
  const gh = (then: string) =>
    install('gh', `[ "$*" = "secret set KEYPLANE_KEY --repo octo-org/shop" ] && [ "$GH_TOKEN" = token ] && ${then}`)

  test('get the new value while the old one works', async () => {
    const { name, old } = await createKey()
    await gh('cat > secret')
    const ran = await run(forKey(step.run, name), environment(old))
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([0, '', expect.stringContaining('is stored and works')])
    const stored = await readFile(join(folder, 'secret'), 'utf8')
    expect(stored).toMatch(/^mpk_\w{49}$/)
    expect(await states(name)).toEqual(['Current', 'Retiring'])
    expect([await use(old), await use(stored), await use(old)]).toEqual([WORKS, WORKS, WORKS])
    const { code, stderr } = await run(forKey(step.run, name), environment(stored))
    expect([code, stderr]).toEqual([4, expect.stringContaining('the previous value works until')])
  })

  // threat: rotation-3
  test('keep the old value when the job dies before it has stored the new one, and the next run replaces that', async () => {
    const { name, old } = await createKey({ scope: undefined, ttl: undefined })
    await gh('exit 1')
    expect((await run(forKey(step.run, name), environment(old))).code).toBe(1)
    expect([await use(old), await states(name)]).toEqual([WORKS, ['Current', 'Pending']])
    await newRunner()
    await gh('cat > secret')
    expect((await run(forKey(step.run, name), environment(old))).code).toBe(0)
    expect(await use(await readFile(join(folder, 'secret'), 'utf8'))).toEqual(WORKS)
  })

  test('keep the pending value of another run for an hour, with the role selfRotate', async () => {
    const { name, old } = await createKey()
    expect((await rotate(name, {}, { token: old })).status).toBe(201)
    await gh('cat > secret')
    const { code, stderr } = await run(forKey(step.run, name), environment(old))
    expect([code, stderr]).toEqual([4, expect.stringContaining('with role selfRotate it may be replaced from')])
    expect(await use(old)).toEqual(WORKS)
  })

  test('get the new value by the script, too', async () => {
    const { name, old } = await createKey()
    await gh('cat > secret')
    const ran = await run('sh rotate.sh gh secret set KEYPLANE_KEY --repo octo-org/shop', {
      KEYPLANE: server.base,
      NAME: name,
      KEY: old,
      GH_TOKEN: 'token',
    })
    expect(ran).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await states(name)).toEqual(['Current', 'Pending'])
    expect([await use(await readFile(join(folder, 'secret'), 'utf8')), await use(old)]).toEqual([WORKS, WORKS])
  })
})

describe('GitLab variables', async () => {
  const [pipeline] = await objectsIn('rotation/gitlab.yaml')
  const { script, variables: own } = pipeline.rotate

  test('get the new value while the old one works', async () => {
    const { name, old } = await createKey()
    const ran = await run(forKey(script.join('\n'), name), {
      KEYPLANE_URL: here(own.KEYPLANE_URL),
      KEYPLANE_KEY: old,
      SETTINGS_TOKEN: 'settings-token',
      CI_API_V4_URL: `${gitlab.url}/api/v4`,
      CI_PROJECT_ID: '20',
    })
    expect([ran.code, ran.stdout]).toEqual([0, ''])
    expect([await use(variables.KEYPLANE_KEY ?? ''), await use(old)]).toEqual([WORKS, WORKS])
  })
})

describe('HashiCorp Vault', () => {
  test('gets the new value while the old one works', async () => {
    const { name, old } = await createKey()
    await writeFile(join(folder, 'stored'), old)
    await install(
      'vault',
      `case "$*" in
  'kv get -mount=secret -field=key ci/keyplane') cat stored ;;
  'kv put -mount=secret ci/keyplane key=-') cat > stored ;;
  *) exit 1 ;;
esac`,
    )
    const ran = await run(forKey(blockOf('HashiCorp Vault', 'sh'), name), { KEYPLANE_URL: server.base })
    expect([ran.code, ran.stdout]).toEqual([0, ''])
    const stored = await readFile(join(folder, 'stored'), 'utf8')
    expect(stored).not.toBe(old)
    expect([await use(stored), await use(old)]).toEqual([WORKS, WORKS])
  })
})

describe('AWS Secrets Manager', () => {
  const STEPS = ['createSecret', 'setSecret', 'testSecret', 'finishSecret']
  test('gets the new value by one command', async () => {
    const { name, old } = await createKey()
    await writeFile(join(folder, 'stored'), old)
    await install(
      'aws',
      `case "$*" in
  'secretsmanager get-secret-value --secret-id ci --query SecretString --output text') cat stored ;;
  'secretsmanager put-secret-value --secret-id ci --secret-string file:///dev/stdin') cat /dev/stdin > stored ;;
  *) exit 1 ;;
esac`,
    )
    const ran = await run(forKey(blockOf('AWS Secrets Manager', 'sh'), name), { KEYPLANE_URL: server.base })
    expect([ran.code, ran.stdout]).toEqual([0, ''])
    expect([await use(await readFile(join(folder, 'stored'), 'utf8')), await use(old)]).toEqual([WORKS, WORKS])
  })

  const read = async (SecretId: string, VersionStage: string) =>
    (await secrets.send(new GetSecretValueCommand({ SecretId, VersionStage }))).SecretString ?? ''

  /** Runs the function for each of the steps, like Secrets Manager, in a process that then dies. */
  const runSteps = (SecretId: string, steps: readonly string[]) =>
    runHere(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `import { handler } from './index.mjs'
        for (const event of JSON.parse(process.argv[1])) await handler(event)`,
        JSON.stringify(steps.map((Step) => ({ Step, SecretId, ClientRequestToken: 'f'.repeat(32) }))),
      ],
      {
        KEYPLANE: server.base,
        AWS_REGION: region,
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
        AWS_ENDPOINT_URL_SECRETS_MANAGER: aws.url,
      },
    )

  async function createSecret(): Promise<{ name: string; old: string }> {
    const key = await createKey()
    const value = { SecretString: key.old, ClientRequestToken: 'e'.repeat(32) }
    await secrets.send(new CreateSecretCommand({ Name: key.name, ...value }))
    return key
  }

  async function expectRotated(name: string, old: string): Promise<void> {
    const current = await read(name, 'AWSCURRENT')
    expect([current === old, await read(name, 'AWSPREVIOUS')]).toEqual([false, old])
    expect(current).toMatch(/^mpk_\w{49}$/)
    expect([await use(current), await use(old)]).toEqual([WORKS, WORKS])
    expect(await states(name)).toEqual(['Current', 'Retiring'])
    const described = await secrets.send(new DescribeSecretCommand({ SecretId: name }))
    expect(described.VersionIdsToStages).toEqual({
      ['e'.repeat(32)]: ['AWSPREVIOUS'],
      ['f'.repeat(32)]: ['AWSPENDING', 'AWSCURRENT'],
    })
  }

  // threat: rotation-3
  test.each(STEPS.map((step, index) => [step, STEPS.slice(0, index + 1)]))(
    'rotates a secret although the function dies after %s and begins again',
    async (_, before) => {
      const { name, old } = await createSecret()
      expect(await runSteps(name, before)).toEqual({ code: 0, stdout: '', stderr: '' })
      expect(await use(old)).toEqual(WORKS)
      expect(await runSteps(name, STEPS)).toEqual({ code: 0, stdout: '', stderr: '' })
      await expectRotated(name, old)
    },
  )

  // threat: rotation-3
  test('rotates a secret although the response to the rotation was lost', async () => {
    const { name, old } = await createSecret()
    expect((await runSteps(name, ['createSecret'])).code).toBe(0)
    const key = await read(name, 'AWSPENDING')
    expect((await rotate(name, { key, overlapSeconds: 86_400, replace: true }, { token: old })).status).toBe(201)
    expect(await runSteps(name, STEPS)).toEqual({ code: 0, stdout: '', stderr: '' })
    await expectRotated(name, old)
  })

  test('leaves the secret alone when the key cannot be rotated', async () => {
    const { name, old } = await createSecret()
    await rotate(name, {}, { token: old })
    const { code, stderr } = await runSteps(name, STEPS)
    expect([code, stderr]).toEqual([1, expect.stringContaining('it may be replaced from')])
    expect([await read(name, 'AWSCURRENT'), await use(old)]).toEqual([old, WORKS])
  })
})
