/** Runs the examples of docs/federation.md, docs/ci.md and docs/workloads.md with tokens in the form of each platform. */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { dump, load } from 'js-yaml'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Runner, type Step, startRunner } from '../clients/action/runner.ts'
import { interpolate, type Job, runAfterScript, runScript } from '../clients/gitlab/gitlab.ts'
import { objectsIn, readExample } from '../support/examples.ts'
import { claimsOf } from '../support/federation.ts'
import { type Block, mountPod, type Platform, startPlatform, yamlOf } from '../support/federationpages.ts'
import { describeKubectl } from '../support/kubectl.ts'
import { cluster, clusters, instance, instances } from '../support/objects.ts'
import { runProgram } from '../support/programs.ts'
import { startServer, type TestServer } from '../support/server.ts'

const CI = 'docs/ci.md'

let server: TestServer
let platform: Platform
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server?.stop())
afterEach(() => platform?.stop())

/** What the jobs print: who they are. */
const isTeam = /"subject": "team:shop"/

/** Creates the virtual cluster of the examples, which belongs to the team. */
async function createStaging(): Promise<void> {
  const accessPoint = { ingress: { enabled: true, host: 'staging.example.com' } }
  const certificateAuthorityData = Buffer.from(server.certificateAuthority).toString('base64')
  await server.make(
    instances('p-shop'),
    instance('staging', { owner: { team: 'shop' }, accessPoint, certificateAuthorityData }),
  )
}

describe('CI jobs', async () => {
  beforeAll(createStaging)
  afterAll(() => server?.call(`${instances('p-shop')}/staging`, { method: 'DELETE' }))

  describe('of GitHub Actions', async () => {
    const [provider, trust] = await yamlOf('docs/federation.md', 'The two objects')
    const [workflow] = await yamlOf(CI, 'GitHub Actions')
    const [action] = workflow.jobs.deploy.steps as Block[]

    let runner: Runner
    beforeAll(async () => {
      runner = await startRunner()
    })
    afterAll(() => runner?.stop())

    /** Returns the step of the page, as a job with the permission runs it. */
    const stepOf = (variables: Record<string, string> = {}) => {
      const inputs = Object.entries<string>(action.with).map(([name, value]) => [name, platform.here(value)])
      const authorities = { NODE_EXTRA_CA_CERTS: join(platform.folder, 'ca.crt') }
      return runner.step(Object.fromEntries(inputs), { ...authorities, ...variables })
    }
    /** The certificate authorities of the job are read when a process starts. */
    const asProcess = async (step: Step, program: 'main' | 'post') => (await step.begin(program)).ended
    const permission = () => ({
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'request-token',
      ACTIONS_ID_TOKEN_REQUEST_URL: platform.requestUrl,
    })

    test('get a kube config in the environment, and their key is revoked', async () => {
      platform = await startPlatform(server, [provider, trust], 'github.environment')
      const step = await stepOf(permission())
      const { code, errors, warnings, variables } = await asProcess(step, 'main')
      expect([code, errors, warnings]).toEqual([0, [], []])
      expect(await readFile(variables.KUBECONFIG ?? '', 'utf8')).toContain('server: https://staging.example.com\n')
      expect(await platform.keys()).toHaveLength(1)
      expect(await asProcess(step, 'post')).toMatchObject({ code: 0, warnings: [] })
      expect(await platform.keys()).toEqual([])
      expect(workflow.permissions).toEqual({ 'id-token': 'write', contents: 'read' })
    })

    test('say why they are refused, and fail', async () => {
      platform = await startPlatform(server, [provider, trust], 'github.environment')
      platform.replaced = { environment: 'staging' }
      const { code, errors } = await asProcess(await stepOf(permission()), 'main')
      expect([code, errors]).toEqual([
        1,
        [expect.stringContaining("claim environment is 'staging', which this client_id does not accept")],
      ])
    })

    test('say what is missing without the permission', async () => {
      platform = await startPlatform(server, [provider, trust], 'github.environment')
      const { code, errors } = await asProcess(await stepOf(), 'main')
      expect([code, errors]).toEqual([1, [expect.stringContaining('id-token: write')]])
    })
  })

  describe('of GitLab CI', async () => {
    const [provider, trust] = await objectsIn('gitlab/trust.yaml')
    const [pipeline] = await yamlOf(CI, 'GitLab CI')
    const template = await readFile(new URL('../../clients/gitlab/templates/kubeconfig.yml', import.meta.url), 'utf8')
    const shell = { name: 'sh', command: 'sh', args: [] }

    /** Runs the job of the page, which prints its kube config. */
    async function runJob(claims = {}) {
      const inputs = Object.entries<string>(pipeline.include[0].inputs).map(([name, value]) => [
        name,
        platform.here(value),
      ])
      const job = interpolate(template, Object.fromEntries(inputs))[pipeline.deploy.extends] as Job
      const env = {
        PATH: process.env.PATH,
        CURL_CA_BUNDLE: join(platform.folder, 'ca.crt'),
        CI_BUILDS_DIR: platform.folder,
        CI_JOB_ID: '302',
        KEYPLANE_ID_TOKEN: platform.idToken(claims),
      }
      const place = { cwd: platform.folder, env }
      const ran = await runScript(shell, { ...job, script: ['cat "$KUBECONFIG"'] }, place)
      const during = await platform.keys()
      return { job, ran, during, after: await runAfterScript(shell, job, place) }
    }

    test('get a kube config for a protected branch, and their key is revoked', async () => {
      platform = await startPlatform(server, [provider, trust], 'gitlab.environment')
      const { job, ran, during, after } = await runJob()
      expect(ran.code).toBe(0)
      expect(ran.stderr).toBe('')
      expect(ran.stdout).toEqual(expect.stringContaining('server: https://staging.example.com\n'))
      expect([during.length, after, await platform.keys()]).toEqual([1, { code: 0, stdout: '', stderr: '' }, []])
      expect(job.id_tokens.KEYPLANE_ID_TOKEN?.aud).toBe(server.base)
    })

    test('say why they are refused, and fail', async () => {
      platform = await startPlatform(server, [provider, trust], 'gitlab.environment')
      const { ran } = await runJob({ ref_protected: 'false' })
      expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining("claim ref_protected is 'false'")])
    })
  })
})

describe('Buildkite', async () => {
  const [provider, trust] = await objectsIn('buildkite/trust.yaml')
  const [pipeline] = await objectsIn('buildkite/pipeline.yaml')
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
})

describe('CircleCI', async () => {
  const [provider, trust] = await objectsIn('circleci/trust.yaml')
  const [config] = await objectsIn('circleci/config.yaml')
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
  const [provider, trust] = await objectsIn('bitbucket/trust.yaml')
  const [config] = await objectsIn('bitbucket/bitbucket-pipelines.yaml')
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
  const [provider, trust] = await objectsIn('terraform-cloud/trust.yaml')
  const [, script = ''] = /<<-EOT\n(.*?)^ *EOT$/ms.exec(await readExample('terraform-cloud/provider.tf')) ?? []

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
      { TFC_WORKLOAD_IDENTITY_TOKEN: platform.idToken({ terraform_run_phase: 'plan' }) },
      ['sh', '-c'],
    )
    expect(plan).toMatchObject({ code: 22, stderr: expect.stringContaining("claim terraform_run_phase is 'plan'") })
  })
})

describeKubectl('Kubernetes pods', async () => {
  const [provider, trust] = await objectsIn('kubernetes/trust.yaml')
  const [config] = await objectsIn('kubernetes/pod.yaml')

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
})

describe('a controller', async () => {
  const [podsProvider] = await objectsIn('kubernetes/trust.yaml')
  const provider = { ...podsProvider, metadata: { name: 'hub' } }
  const [trust] = await objectsIn('argocd/trust.yaml')
  const [secret] = await objectsIn('argocd/cluster.yaml')
  const [, webhook, { spec }] = await objectsIn('external-secrets/kubeconfig.yaml')

  test('such as Argo CD exchanges the token of each of its service accounts', async () => {
    platform = await startPlatform(server, [provider, trust], 'kubernetes.pod')
    const { folder, here } = platform
    const { command, args, apiVersion } = JSON.parse(secret.stringData.config).execProviderConfig
    const given = args.map((one: string) => here(one).replace('/var/run/secrets/keyplane', folder))
    const env = { PATH: process.env.PATH, CURL_CA_BUNDLE: join(folder, 'ca.crt') }
    for (const sub of trust.spec.claims[0].values) {
      await platform.install('token', platform.idToken({ sub }))
      const { code, stdout, stderr } = await runProgram(command, given, { cwd: folder, env })
      expect([code, stderr]).toEqual([0, ''])
      expect(JSON.parse(stdout)).toMatchObject({ apiVersion, status: { token: expect.stringMatching(/^eyJ/) } })
    }
  })

  test('such as the webhook generator of External Secrets asks for a kube config', async () => {
    await server.make(clusters, cluster('west', { access: [{ verbs: ['use'], teams: ['shop'] }] }))
    const { token: accessKey } = await server.makeKey({ team: 'shop', scope: { clusters: [{ cluster: 'west' }] } })
    const { method, url, headers, body, result } = webhook.spec
    const path = url.replace('https://keys.example.com/prod/kubernetes/management', '')
    const token = headers.Authorization.replace('Bearer {{ .keyplane.key }}', accessKey)
    const { status, json } = await server.call(path, {
      method,
      token,
      body,
      headers: { 'content-type': headers['Content-Type'] },
    })
    expect([status, result.jsonPath, spec.target.template.data.value]).toEqual([201, '$.status', '{{ .kubeConfig }}'])
    expect(json.status.kubeConfig).toContain('server: https://west.example.com')
    await server.call(`${clusters}/west`, { method: 'DELETE' })
  })
})

describe('a job that gets the kube config of a cluster in one request', async () => {
  const access = [{ verbs: ['use'], teams: ['shop'] }]
  beforeAll(() => server.make(clusters, cluster('west', { access })))
  afterAll(() => server.call(`${clusters}/west`, { method: 'DELETE' }))
  const aws = await readExample('aws/job.sh')
  const [{ steps }] = await objectsIn('azure-devops/azure-pipelines.yaml')
  const [, jenkins = ''] = /'''\n([\s\S]*?)^ *'''/m.exec(await readExample('jenkins/Jenkinsfile')) ?? []
  const printsToken = '#!/bin/sh\nprintf "%s\\n" "$ID_TOKEN"\n'

  test.each([
    { heading: 'aws', fixture: 'aws.role', script: aws, programs: ['aws'] },
    {
      heading: 'azure-devops',
      fixture: 'azure.managedidentity',
      script: steps[0].inputs.inlineScript,
      programs: ['az'],
    },
    { heading: 'jenkins', fixture: 'oidc.person', script: jenkins, programs: [] },
  ])(
    'works with a token of the form of $heading only, and ends the token',
    async ({ heading, fixture, script, programs }) => {
      const [provider, trust] = await objectsIn(`${heading}/trust.yaml`)
      platform = await startPlatform(server, [provider, trust], fixture)
      for (const name of programs) await platform.install(name, printsToken)
      await platform.install('kubectl', '#!/bin/sh\ncat west.kubeconfig\n')
      const [{ claim, values }] = trust.spec.claims
      const aud = provider.spec.audience ?? server.base
      const run = async (claims: object) => {
        const ID_TOKEN = platform.idToken({ iss: provider.spec.issuer, aud, ...claims })
        await platform.install('token', ID_TOKEN)
        const env = {
          KEYPLANE: server.base,
          CREDENTIAL: platform.credential,
          ID_TOKEN,
          ID_TOKEN_FILE: join(platform.folder, 'token'),
        }
        return platform.run(script, env)
      }
      const lived = heading === 'jenkins' ? { exp: Math.floor(Date.now() / 1000) + 3600, build_number: 7 } : {}
      const ran = await run({ [claim]: values[0], ...lived })
      expect([ran.code, ran.stderr]).toEqual([0, ''])
      expect(ran.stdout).toContain('server: https://west.example.com')
      expect(await platform.keys()).toEqual([])
      const other = await run({ [claim]: `${values[0]}x`, ...lived })
      expect([other.code, other.stdout]).toEqual([1, ''])
      expect(other.stderr).toMatch(/this client_id(?: does not accept)?"/)
    },
  )
})

describe('a cluster in one request', async () => {
  const [provider] = await objectsIn('kubernetes/trust.yaml')
  const [trust] = await objectsIn('kubernetes/cluster-trust.yaml')
  const [config] = await objectsIn('kubernetes/cluster-kubeconfig.yaml')

  test('is a token for that cluster only, from curl as the plugin', async () => {
    platform = await startPlatform(server, [provider, trust], 'kubernetes.pod')
    const { folder, here } = platform
    await platform.install('token', `${platform.idToken()}\n`)
    const { command, args } = config.users[0].user.exec
    const given = args.map((one: string) => here(one).replace('/var/run/secrets/keyplane', folder))
    const env = { PATH: process.env.PATH, CURL_CA_BUNDLE: join(folder, 'ca.crt') }
    const { code, stdout, stderr } = await runProgram(command, given, { cwd: folder, env })
    expect([code, stderr]).toEqual([0, ''])
    const { token } = JSON.parse(stdout).status
    const { aud } = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString())
    expect(aud).toEqual([`${server.base}/clusters/west`])
  })
})

describe.each([
  ['circleci', 'circleci.branch', 'circleci.fork'],
  ['bitbucket', 'bitbucket.environment', 'bitbucket.renamed'],
  ['terraform-cloud', 'terraformcloud.apply', 'terraformcloud.plan'],
  ['oidc', undefined, undefined],
])('%s', async (heading, fixture, refused) => {
  const [provider, trust] = await objectsIn(`${heading}/trust.yaml`)

  test('gets a key with a fitting token only', async () => {
    platform = await startPlatform(server, [provider, trust], fixture ?? 'oidc.person')
    const own = fixture ? {} : { iss: provider.spec.issuer, sub: trust.spec.claims[0].values[0] }
    expect((await platform.exchange(platform.idToken(own))).json).toMatchObject({ token_type: 'Bearer' })
    const others = refused ? await claimsOf(refused) : { sub: 'job:other' }
    expect(await platform.exchange(platform.idToken({ ...own, ...others }))).toMatchObject({ status: 400 })
  })
})

describeKubectl('people', async () => {
  const [trust] = await objectsIn('people/trust.yaml')
  const [config] = await objectsIn('people/kubeconfig.yaml')
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
