/** Runs the examples of docs/federation-*.md with tokens in the form of each platform. */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { dump } from 'js-yaml'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Block, type Platform, startPlatform, yamlOf } from '../support/federationpages.ts'
import { readIdTokenShapes } from '../support/idtokens.ts'
import { describeKubectl } from '../support/kubectl.ts'
import { startServer, type TestServer } from '../support/server.ts'

const PLATFORMS = 'docs/federation-platforms.md'
const PODS = 'docs/federation-pods.md'
const OTHERS = 'docs/federation-others.md'

const seconds = () => Math.floor(Date.now() / 1000)
/** When the deployment lost its table, in Unix seconds. */
const restored = seconds() - 200

let server: TestServer
let platform: Platform
beforeAll(async () => {
  server = await startServer({ REJECT_ID_TOKENS_BEFORE: String(restored) })
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
    const [token, file] = [join(platform.folder, 'token'), join(platform.folder, 'kubeconfig')]
    await platform.install('token', `${platform.idToken(claims)}\n`)
    const kubeconfig = platform.here(config.data.kubeconfig).replace('/var/run/secrets/keyplane/token', token)
    const server = kubeconfig.replace(/^( +)server: .*$/m, `$&\n$1certificate-authority: ${platform.folder}/ca.crt`)
    await platform.install('kubeconfig', server)
    return platform.run('kubectl auth whoami', { KUBECONFIG: file })
  }

  test('get a key through curl as the plugin of kubectl', async () => {
    platform = await startPlatform(server, [provider, trust], 'kubernetes.pod')
    const ran = await runPod()
    expect(ran).toEqual({ code: 0, stdout: expect.stringContaining('team:shop'), stderr: '' })
    expect(await platform.keys()).toHaveLength(1)
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
    expect((await exchange(platform.idToken(own))).json).toMatchObject({ token_type: 'Bearer' })
    const { claims } = (await readIdTokenShapes()).find(({ name }) => name === refused) ?? {
      claims: { sub: 'job:other' },
    }
    const { aud, iat, nbf, exp, jti, ...others } = claims as Record<string, unknown>
    expect(await exchange(platform.idToken({ ...own, ...others }))).toMatchObject({ status: 400 })
  })
})

/** Exchanges a token, with parameters that replace the usual ones. */
const exchange = (token: string, parameters: Record<string, string> = {}) =>
  server.call('/oauth2/token', {
    method: 'POST',
    token: '',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      client_id: platform.credential,
      subject_token: token,
      ...parameters,
    }).toString(),
  })

describe('docs/federation.md', async () => {
  const page = await readFile(new URL('../../docs/federation.md', import.meta.url), 'utf8')
  const [provider, trust] = await yamlOf(PLATFORMS, 'GitHub Actions')

  /** Returns the texts in the first column of a table, with what differs each time replaced. */
  const textsBelow = (header: string): string[] => {
    const [, rows = ''] = new RegExp(`^\\| ${header} \\|\n\\|[-|]+\\|\n((?:\\|.*\n)+)`, 'm').exec(page) ?? []
    return [...rows.matchAll(/^\| `([^`]+)`/gm)].map(([, text = '']) => constant(text))
  }
  const constant = (text: string) => text.replace(/20[-0-9T:]+Z|\d+ s (?=ago|ahead)/g, '#')
  const refusalOf = async (answer: ReturnType<typeof exchange>) => {
    const { status, json } = await answer
    return status === 400 ? constant(json.error_description) : `status ${status}`
  }

  test('has the texts of refused exchanges', async () => {
    platform = await startPlatform(
      server,
      [{ ...provider, spec: { ...provider.spec, maxTokenAge: 600 } }, trust],
      'github.environment',
    )
    const token = platform.idToken
    const now = seconds()
    const once = token()
    expect((await exchange(once)).status).toBe(200)
    const exchangedOften = async () => {
      const pods = await startPlatform(server, await yamlOf(PODS, 'Kubernetes pods'), 'kubernetes.pod')
      const shared = pods.idToken()
      const again = () => exchange(shared, { client_id: pods.credential })
      await Promise.all(Array.from({ length: 50 }, again))
      return again().finally(pods.stop)
    }
    const refused = [
      exchange(token({ repository_id: '999' })),
      exchange(token({ environment: 'staging' })),
      exchange(token({ event_name: 'pull_request' })),
      exchange(token({ environment: undefined })),
      exchange(token({ iat: now - 300, nbf: now - 300, exp: now - 95 })),
      exchange(token({ iat: now + 95, nbf: now + 95, exp: now + 300 })),
      exchange(token({ iat: now - 700, nbf: now - 700, exp: now + 95 })),
      exchange(once),
      exchangedOften(),
      exchange(token({ iat: restored - 1, nbf: restored - 1 })),
      exchange(token(), { client_id: '' }),
      exchange(token(), { client_id: trust.metadata.name }),
      exchange('Bad credentials'),
      exchange(token({ aud: [server.base, 'https://other.example'] })),
    ]
    expect(await Promise.all(refused.map(refusalOf))).toEqual(textsBelow('text \\| cause and response'))
  })

  test('has the texts of refused trusts', async () => {
    platform = await startPlatform(server, [provider, trust], 'github.environment')
    const tenant = { claim: 'repository_id', values: ['74'] }
    const refused: object[] = [
      { claims: [{ claim: 'environment', values: ['production'] }] },
      { claims: [{ claim: 'repository', values: ['octo-org/shop'] }] },
      { claims: [{ claim: 'repository_id', patterns: ['7*'] }] },
      { claims: [{ claim: 'repository_id', values: [74] }] },
      { claims: [{ claim: 'repository_id', values: ['octo-org/shop'] }] },
      { claims: [{ claim: 'ref', patterns: ['*main'] }, tenant] },
      { identityProvider: 'unknown' },
    ]
    const answers = refused.map(async (spec) => {
      const body = { ...trust, metadata: { name: 'refused' }, spec: { ...trust.spec, ...spec } }
      const { status, json } = await server.call('/apis/management.platform/v1/federatedidentitycredentials', {
        method: 'POST',
        body,
      })
      return [status, json.message] as const
    })
    const texts = textsBelow('text \\| response')
    expect(texts).toHaveLength(refused.length)
    for (const [index, [status, message]] of (await Promise.all(answers)).entries()) {
      const parts = (texts[index] ?? '').split('…').map((part) => part.trim())
      expect([status, message]).toEqual([422, expect.stringMatching(partsInOrder(parts))])
    }
  })

  test('names claims that the tokens of the platforms have', async () => {
    const known = new Set((await readIdTokenShapes()).flatMap(({ claims }) => Object.keys(claims)))
    const pages = await Promise.all(
      [PLATFORMS, PODS, OTHERS].map((name) => readFile(new URL(`../../${name}`, import.meta.url), 'utf8')),
    )
    const tables = pages.flatMap((text) => [...text.matchAll(/^\| claim \| says \|\n\|[-|]+\|\n((?:\|.*\n)+)/gm)])
    const named = tables.flatMap(([, rows = '']) => [...rows.matchAll(/^\| (`[^|]+`) \|/gm)])
    const claims = named.flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, claim = '']) => claim))
    expect(claims.length).toBeGreaterThan(20)
    expect(claims.filter((claim) => !known.has(claim))).toEqual([])
  })
})

const partsInOrder = (parts: readonly string[]): RegExp =>
  new RegExp(parts.map((part) => RegExp.escape(part)).join('.*'))

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
    const ran = await platform.run('kubectl auth whoami', { KUBECONFIG: join(platform.folder, 'kubeconfig') })
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('company:alice@company.example') })
    expect(ran.stdout).toContain('team:payments')
  })
})
