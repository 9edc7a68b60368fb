/** Runs the examples of docs/federation-*.md with tokens in the form of each platform. */

import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { dump, load } from 'js-yaml'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { claimsOf } from '../support/federation.ts'
import { type Block, mountPod, type Platform, startPlatform, yamlOf } from '../support/federationpages.ts'
import { describeKubectl } from '../support/kubectl.ts'
import { startServer, type TestServer } from '../support/server.ts'

const PLATFORMS = 'docs/federation-platforms.md'
const PODS = 'docs/federation-pods.md'
const OTHERS = 'docs/federation-others.md'

let server: TestServer
let platform: Platform
beforeAll(async () => {
  server = await startServer()
}, 120_000)
afterAll(() => server?.stop())
afterEach(() => platform?.stop())

/** What the jobs print: who they are. */
const isTeam = /"subject": "team:shop"/

describe('GitHub Actions', async () => {
  const [provider, trust, workflow] = await yamlOf(PLATFORMS, 'GitHub Actions')
  const { deploy } = workflow.jobs

  /** Runs the steps of the job as a runner does, and returns what each printed. */
  async function runJob() {
    const output = join(platform.folder, 'output')
    const variables = {
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'request-token',
      ACTIONS_ID_TOKEN_REQUEST_URL: platform.requestUrl,
      GITHUB_OUTPUT: output,
      KEYPLANE: platform.here(deploy.env.KEYPLANE),
      CREDENTIAL: platform.here(deploy.env.CREDENTIAL),
    }
    const [get, use, revoke] = deploy.steps as Block[]
    const got = await platform.run(get.run, variables)
    if (got.code !== 0) return { got }
    const [, key = ''] = /^key=(.*)$/m.exec(await readFile(output, 'utf8')) ?? []
    const used = await platform.run(use.run, { ...variables, KEY: key })
    const during = await platform.keys()
    const revoked = await platform.run(revoke.run, { ...variables, KEY: key })
    return { got, key, used, during, revoked }
  }

  test('gets a key in the environment, uses it and revokes it', async () => {
    platform = await startPlatform(server, [provider, trust], 'github.environment')
    const { got, key, used, during, revoked } = await runJob()
    expect(got).toEqual({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`^::add-mask::eyJ\\S+\n::add-mask::${key}\n$`)),
      stderr: '',
    })
    expect(used).toEqual({ code: 0, stdout: expect.stringMatching(isTeam), stderr: '' })
    expect(during).toHaveLength(1)
    expect(revoked).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await platform.keys()).toEqual([])
  })

  test('says why the job is refused, and fails', async () => {
    platform = await startPlatform(server, [provider, trust], 'github.environment')
    platform.replaced = { environment: 'staging' }
    const { got } = await runJob()
    expect(got.code).toBe(1)
    expect(got.stderr).toContain("claim environment is 'staging', which this client_id does not accept")
  })

  test('says what is missing without the permission', async () => {
    platform = await startPlatform(server, [provider, trust], 'github.environment')
    const got = await platform.run(deploy.steps[0].run, { KEYPLANE: server.base, CREDENTIAL: platform.credential })
    expect(got).toMatchObject({
      code: expect.not.stringMatching(/^0$/),
      stderr: expect.stringContaining('id-token: write'),
    })
  })
})

describe('GitLab CI', async () => {
  const [provider, trust, pipeline] = await yamlOf(PLATFORMS, 'GitLab CI')
  const job = pipeline.deploy

  async function runJob(claims = {}) {
    const variables = {
      CI_BUILDS_DIR: platform.folder,
      CI_JOB_ID: '302',
      KEYPLANE: platform.here(job.variables.KEYPLANE),
      CREDENTIAL: platform.here(job.variables.CREDENTIAL),
      KEYPLANE_ID_TOKEN: platform.idToken(claims),
    }
    const file = join(platform.folder, '.keyplane-302')
    const ran = await platform.run(job.script.join('\n'), variables)
    const during = { keys: await platform.keys(), mode: (await stat(file)).mode & 0o777 }
    const after = await platform.run(job.after_script.join('\n'), variables)
    return { ran, during, after, left: await stat(file).catch(() => undefined) }
  }

  test('gets a key for a protected branch, uses it and revokes it', async () => {
    platform = await startPlatform(server, [provider, trust], 'gitlab.environment')
    const { ran, during, after, left } = await runJob()
    expect(ran).toEqual({ code: 0, stdout: expect.stringMatching(isTeam), stderr: '' })
    expect(during).toEqual({ keys: [expect.any(String)], mode: 0o600 })
    expect(after).toEqual({ code: 0, stdout: '', stderr: '' })
    expect([left, await platform.keys()]).toEqual([undefined, []])
    expect(platform.here(job.id_tokens.KEYPLANE_ID_TOKEN.aud)).toBe(server.base)
  })

  test('says why the job is refused, and fails', async () => {
    platform = await startPlatform(server, [provider, trust], 'gitlab.environment')
    const { ran } = await runJob({ ref_protected: 'false' })
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining("claim ref_protected is 'false'")])
  })
})

describe('Buildkite', async () => {
  const [provider, trust, pipeline] = await yamlOf(PLATFORMS, 'Buildkite')
  const [step] = pipeline.steps

  async function runJob(claims = {}) {
    await platform.install(
      'buildkite-agent',
      `#!/bin/sh
case "$*" in
  "oidc request-token --audience $KEYPLANE --claim organization_id,pipeline_id") printf %s "$ID_TOKEN" ;;
  'redactor add') cat >> redacted ;;
  *) echo "unknown: $*" >&2; exit 1 ;;
esac
`,
    )
    return platform.run(step.command.replaceAll('$$', '$'), {
      KEYPLANE: platform.here(step.env.KEYPLANE),
      CREDENTIAL: platform.here(step.env.CREDENTIAL),
      ID_TOKEN: platform.idToken(claims),
    })
  }

  test('gets a key on the branch, has it redacted, uses it and revokes it', async () => {
    platform = await startPlatform(server, [provider, trust], 'buildkite.withids')
    const ran = await runJob()
    expect(ran).toEqual({ code: 0, stdout: expect.stringMatching(isTeam), stderr: '' })
    expect(await readFile(join(platform.folder, 'redacted'), 'utf8')).toMatch(/^mpk_\w+$/)
    expect(await platform.keys()).toEqual([])
  })

  test('says why the job is refused, and fails', async () => {
    platform = await startPlatform(server, [provider, trust], 'buildkite.withids')
    const ran = await runJob({ build_branch: 'feature' })
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining("claim build_branch is 'feature'")])
  })
})

describe('CircleCI', async () => {
  const [provider, trust, config] = await yamlOf(OTHERS, 'CircleCI')
  const job = config.jobs.deploy

  test('gets a key on the branch, uses it and revokes it', async () => {
    platform = await startPlatform(server, [provider, trust], 'circleci.branch')
    await platform.install(
      'circleci',
      `#!/bin/sh
[ "$*" = "run oidc get --claims {\\"aud\\": \\"$KEYPLANE\\"}" ] && printf '%s\\n' "$ID_TOKEN"
`,
    )
    const variables = {
      KEYPLANE: platform.here(job.environment.KEYPLANE),
      CREDENTIAL: platform.here(job.environment.CREDENTIAL),
      ID_TOKEN: platform.idToken(),
    }
    const [get, use, revoke] = job.steps.map(({ run }: Block) => run.command)
    expect(await platform.run(get, variables)).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await platform.run(use, variables)).toMatchObject({ code: 0, stdout: expect.stringMatching(isTeam) })
    expect(await platform.run(revoke, variables)).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await platform.keys()).toEqual([])
    expect(await platform.run(get, variables)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the subject token has been exchanged already'),
    })
  })
})

describe('Bitbucket Pipelines', async () => {
  const [provider, trust, config] = await yamlOf(OTHERS, 'Bitbucket Pipelines')
  const [{ step }] = config.pipelines.branches.main

  test('gets a key in the environment, uses it and revokes it', async () => {
    platform = await startPlatform(server, [provider, trust], 'bitbucket.environment')
    expect(step.oidc.audiences.map(platform.here)).toEqual([server.base])
    const variables = { BITBUCKET_STEP_OIDC_TOKEN: platform.idToken() }
    const ran = await platform.run(platform.here(step.script.join('\n')), variables)
    expect(ran).toEqual({ code: 0, stdout: expect.stringMatching(isTeam), stderr: '' })
    expect(await platform.keys()).toHaveLength(1)
    const after = await platform.run(platform.here(step['after-script'].join('\n')))
    expect(after).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await platform.keys()).toEqual([])
  })
})

describe('Terraform Cloud', async () => {
  const [provider, trust] = await yamlOf(OTHERS, 'Terraform Cloud')
  const [, script = ''] =
    /<<-EOT\n(.*?)^ *EOT$/ms.exec(await readFile(new URL(`../../${OTHERS}`, import.meta.url), 'utf8')) ?? []

  test('gets the credential of its provider in each process of an apply', async () => {
    platform = await startPlatform(server, [provider, trust], 'terraformcloud.apply')
    const plugin = platform.here(script).replaceAll('%%{', '%{')
    const variables = { TFC_WORKLOAD_IDENTITY_TOKEN: platform.idToken() }
    for (let process = 1; process <= 2; process++) {
      const { code, stdout, stderr } = await platform.run(plugin, variables, ['sh', '-c'])
      expect([code, stderr]).toEqual([0, ''])
      expect(JSON.parse(stdout)).toMatchObject({
        kind: 'ExecCredential',
        status: { token: expect.stringMatching(/^mpk_/) },
      })
    }
    const plan = await platform.run(
      plugin,
      {
        TFC_WORKLOAD_IDENTITY_TOKEN: platform.idToken({ terraform_run_phase: 'plan' }),
      },
      ['sh', '-c'],
    )
    expect(plan).toMatchObject({ code: 22, stderr: expect.stringContaining("claim terraform_run_phase is 'plan'") })
  })
})

describeKubectl('Kubernetes pods', async () => {
  const [provider, trust, config] = await yamlOf(PODS, 'Kubernetes pods')

  async function runPod(claims = {}) {
    const { folder, here } = platform
    const data = { curl: here(config.data.curl), kubeconfig: here(config.data.kubeconfig) }
    const token = `${platform.idToken(claims)}\n`
    await mountPod(data, { folder, token, authority: join(folder, 'ca.crt') })
    return platform.run('kubectl auth whoami', { KUBECONFIG: join(folder, 'kubeconfig') })
  }

  test('get a key through curl as the plugin of kubectl', async () => {
    platform = await startPlatform(server, [provider, trust], 'kubernetes.pod')
    const ran = await runPod()
    expect(ran).toEqual({ code: 0, stdout: expect.stringContaining('team:shop'), stderr: '' })
    expect(await platform.keys()).toHaveLength(1)
  })

  // fabric8 joins the command and its arguments, and runs them with `sh -c`.
  test('get a key in clients that run plugins through a shell', async () => {
    platform = await startPlatform(server, [provider, trust], 'kubernetes.pod')
    await runPod()
    const { users } = load(await readFile(join(platform.folder, 'kubeconfig'), 'utf8')) as Block
    const { command, args } = users[0].user.exec
    const { code, stdout } = await platform.run([command, ...args].join(' '), {}, ['sh', '-c'])
    expect([code, JSON.parse(stdout).status]).toMatchObject([0, { token: expect.stringMatching(/^mpk_/) }])
  })

  test('see in the output of kubectl why they are refused', async () => {
    platform = await startPlatform(server, [provider, trust], 'kubernetes.pod')
    const ran = await runPod({ sub: 'system:serviceaccount:attacker:operator' })
    expect([ran.code, ran.stderr]).toEqual([
      1,
      expect.stringContaining('the subject token is not accepted for this client_id'),
    ])
  })
})

describe.each([
  ['CircleCI', 'circleci.branch', 'circleci.fork'],
  ['Bitbucket Pipelines', 'bitbucket.environment', 'bitbucket.renamed'],
  ['Terraform Cloud', 'terraformcloud.apply', 'terraformcloud.plan'],
  ['Any OpenID Connect issuer', undefined, undefined],
])('%s', async (heading, fixture, refused) => {
  const [provider, trust] = await yamlOf(OTHERS, heading)

  test('gets a key with a fitting token only', async () => {
    platform = await startPlatform(server, [provider, trust], fixture ?? 'oidc.person')
    const own = fixture ? {} : { iss: provider.spec.issuer, sub: trust.spec.claims[0].values[0] }
    expect((await platform.exchange(platform.idToken(own))).json).toMatchObject({ token_type: 'Bearer' })
    const others = refused ? await claimsOf(refused) : { sub: 'job:other' }
    expect(await platform.exchange(platform.idToken({ ...own, ...others }))).toMatchObject({ status: 400 })
  })
})

describeKubectl('people', async () => {
  const [trust, config] = await yamlOf('docs/federation.md', 'People')
  const provider = {
    apiVersion: 'management.platform/v1',
    kind: 'IdentityProvider',
    metadata: { name: 'company' },
    spec: { issuer: 'https://login.company.example', tokenUse: 'Lifetime', access: [{ verbs: ['use'], teams: ['*'] }] },
  }

  test('log in through kubelogin with their name and groups at the company', async () => {
    platform = await startPlatform(server, [provider, trust], 'oidc.person')
    const idToken = platform.idToken({ azp: server.base })
    await platform.install(
      'kubectl-oidc_login',
      `#!/bin/sh\nprintf '{"kind":"ExecCredential","status":{"token":"%s"}}' '${idToken}'\n`,
    )
    const cluster = { server: server.base, 'certificate-authority': join(platform.folder, 'ca.crt') }
    const whole = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'keyplane', cluster }],
      ...config,
      contexts: [{ name: 'keyplane', context: { cluster: 'keyplane', user: 'keyplane' } }],
      'current-context': 'keyplane',
    }
    await platform.install('kubeconfig', platform.here(dump(whole)).replace('staff@UID', platform.credential))
    const variables = {
      KUBECONFIG: join(platform.folder, 'kubeconfig'),
      XDG_CACHE_HOME: join(platform.folder, 'cache'),
    }
    const ran = await platform.run('kubectl auth whoami', variables)
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('company:alice@company.example') })
    expect(ran.stdout).toContain('team:payments')
    expect((await platform.run('kubectl auth whoami', variables)).stdout).toBe(ran.stdout)
    expect(await platform.keys()).toHaveLength(1)
    expect((await stat(join(variables.XDG_CACHE_HOME, 'keyplane/staff'))).mode & 0o077).toBe(0)
  })
})
