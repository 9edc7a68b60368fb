/** Tests commands with a narrow key: what they get, how they end, and what is said of them. */
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { load } from 'js-yaml'
import { describe, expect, test } from 'vitest'
import { runCommand } from '../../../clients/cli/src/run/child.ts'
import { receiveSignals } from '../../../clients/cli/src/run/signals.ts'
import { sendHttps } from '../../../clients/core/src/https.ts'
import { unlimited } from '../../support/deadlines.ts'
import { keys } from '../../support/objects.ts'
import { useServer } from '../../support/sharedserver.ts'
import { useAlice } from './alice.ts'
import { says, useCommandLine } from './commandline.ts'
import { givenClock } from './credentials/testio.ts'
import { useFront } from './front.ts'

const { server, cluster, key, cli, patchKey } = useAlice()
const front = useFront(server)

const DEMO = ['--virtual-cluster', 'demo/demo'] as const
/** Says what it has, and waits for the end of its input. */
const TELL = `const { readFileSync } = require('node:fs')
const of = (name) => readFileSync(process.env[name], 'utf8')
process.stderr.write(JSON.stringify({ env: process.env, key: of('KEYPLANE_KEY_FILE'), config: of('KUBECONFIG') }) + '\\n')
process.stdin.resume()`
const tell = [process.execPath, '-e', TELL]
const node = (script: string) => [process.execPath, '-e', script]

interface Told {
  env: Record<string, string>
  key: string
  config: string
}
const told = (stderr: string): Told => JSON.parse(/^\{"env".*$/m.exec(stderr)?.[0] ?? '')
const nameIn = (stderr: string) => /^Key (run-[a-z0-9-]+): /m.exec(stderr)?.[1] ?? ''
const stored = (name: string) => server.call(`${keys}/${name}`)

async function begin(args: readonly string[], env: Record<string, string | undefined> = {}) {
  const running = await cli.start(['run', ...args], { env })
  await running.until(/^\{"env".*\n/m)
  const what = told(running.said.stderr)
  return { ...running, ...what, name: nameIn(running.said.stderr), folder: dirname(what.env.KUBECONFIG ?? '') }
}

const inCluster = async (config: string, path: string, method = 'GET') => {
  const { token } = (load(config) as { users: { user: { token: string } }[] }).users[0]?.user ?? { token: '' }
  const { code } = await sendHttps({
    url: new URL(`${cluster.url}${path}`),
    method,
    headers: { authorization: `Bearer ${token}` },
    body: undefined,
    authorities: cluster.certificateAuthority,
    mostMebibytes: 1,
    signal: unlimited(),
  })
  return code
}
const PODS = '/api/v1/namespaces/default/pods'

describe('a command', () => {
  test('gets a key that reads and a kube config of it, and they end with it, with a report', async () => {
    const run = await begin([...DEMO, '--read-only', '--for', '30m', '--', ...tell])
    const { stderr } = run.said
    expect(stderr).toContain(
      `Key ${run.name}: read-only in virtual cluster demo/demo, without Secrets; ends in 30m or with the command.`,
    )
    expect(stderr).toContain('It runs as you: it can still read your files.')
    expect(stderr).not.toContain('shortened')
    const { metadata, spec, status } = (await stored(run.name)).json
    expect([metadata.labels, spec.ttl, status.owner, status.madeWith.name]).toEqual([
      { 'keyplane/session': 'run' },
      1800,
      'alice',
      key.name,
    ])
    expect(spec.displayName).toMatch(/^node on /)
    expect(spec.scope).toEqual({
      roles: [{ role: 'view' }],
      virtualClusters: [{ project: 'demo', virtualCluster: 'demo' }],
    })
    expect([await inCluster(run.config, PODS), await inCluster(run.config, `${PODS}/web-0`, 'DELETE')]).toEqual([
      200, 403,
    ])
    expect(await inCluster(run.config, '/api/v1/namespaces/default/secrets')).toBe(403)
    expect((await server.call(keys, { token: run.key })).status).toBe(403)
    run.child.stdin.end()
    const { code, stderr: said } = await run.ended
    expect(code).toBe(0)
    // The demo cluster asks with a key that may not review, so nothing is recorded of what it asks.
    const report = [
      `^${run.name} has ended\\. In \\d+s:`,
      '  create virtualclusterinstances/kubeconfig "demo" in project "demo"',
      'Refused, or asked about with can-i:',
      '  list ownedaccesskeys',
      'Virtual cluster demo/demo did not ask about this key: requests there, if there were any, are not known\\.\\n$',
    ]
    expect(said).toMatch(new RegExp(report.join('\\n'), 'm'))
    expect((await stored(run.name)).status).toBe(404)
    expect(await inCluster(run.config, PODS)).not.toBe(200)
    expect(existsSync(run.folder)).toBe(false)
  })

  // threat: cli-6
  test('has an environment that names only its key, without what gives another credential', async () => {
    const jwt = ['eyJhbGciOiJSUzI1NiJ9', 'eyJpc3MiOiJodHRwczovL2V4YW1wbGUuY29tIn0', 'c2lnbmF0dXJl'].join('.')
    const env = {
      ...{
        ACTIONS_ID_TOKEN_REQUEST_URL: 'https://id',
        ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'x',
        AZURE_FEDERATED_TOKEN_FILE: '/x',
      },
      ...{
        MY_ID_TOKEN: jwt,
        KUBECONFIG: '/home/me/.kube/config',
        AWS_WEB_IDENTITY_TOKEN_FILE: '/token',
        HARMLESS: 'yes',
        XDG_RUNTIME_DIR: '/no/such/folder',
      },
      ...{ KUBE_CONFIG_PATH: '/home/me/.kube/config', K8S_AUTH_KUBECONFIG: '/admin', HELM_KUBETOKEN: 'x' },
      ...{ OTHER: `value=${key.value}`, ENCODED: Buffer.from(`me:${key.value}`).toString('base64') },
    }
    const run = await begin([...DEMO, '--keep', 'AWS_WEB_IDENTITY_TOKEN_FILE', '--keep', 'OTHER', '--', ...tell], env)
    const { PATH: _, HOME: __, ...rest } = run.env
    const file = (name: string) => join(run.folder, name)
    expect(rest).toEqual({
      AWS_WEB_IDENTITY_TOKEN_FILE: '/token',
      HARMLESS: 'yes',
      XDG_RUNTIME_DIR: '/no/such/folder',
      KEYPLANE_URL: server.base,
      KEYPLANE_CA: file('ca.crt'),
      KEYPLANE_CONFIG: file('config.json'),
      KEYPLANE_KEY_FILE: file('key'),
      KUBECONFIG: file('kubeconfig'),
      KUBE_CONFIG_PATH: file('kubeconfig'),
      K8S_AUTH_KUBECONFIG: file('kubeconfig'),
    })
    expect(run.said.stderr).toMatch(
      /^Removed from its environment: .*MY_ID_TOKEN, HELM_KUBETOKEN, .*\. Set to its kube config: KUBE_CONFIG_PATH, K8S_AUTH_KUBECONFIG\.$/m,
    )
    expect(run.said.stderr).toContain('Warning: your key is in the environment of this program')
    expect(run.said.stderr).toContain('everything that you may in virtual cluster demo/demo')
    // A command that runs keyplane gets the narrow key.
    const who = await cli.spawn(['whoami', '-o', 'json'], { env: { KEYPLANE_KEY: undefined, ...rest } })
    expect(JSON.parse(who.stdout).status.accessKey).toBe(run.name)
    const other = await cli.spawn(['whoami', '--context', 'mine'], { env: { KEYPLANE_KEY: undefined, ...rest } })
    expect(other).toMatchObject(says(2, 'There is no context "mine"'))
    run.child.stdin.end()
    await run.ended
    for (const name of ['KEYPLANE_KEY', 'kubeconfig'])
      expect(await cli.run(['run', ...DEMO, '--keep', name, '--', ...tell])).toMatchObject(
        says(2, 'would hand over your own credential'),
      )
  })

  test.each([
    ['its own exit code', 'exit 7', 7],
    ['128 and the number of the signal that ended it', 'kill -KILL $$', 137],
  ])('ends with %s', async (_, script, code) => {
    const ran = await cli.run(['run', ...DEMO, '--', 'sh', '-c', script])
    expect(ran).toMatchObject({ code, stdout: '' })
    expect((await stored(nameIn(ran.stderr))).status).toBe(404)
  })

  test('that is no program makes no key, and neither does a wrong call', async () => {
    const before = (await server.call(keys)).json.items.length
    const wrong: [string[], number, string][] = [
      [[...DEMO, '--', 'no-such-program'], 2, 'is not on the PATH'],
      [['--', ...tell], 2, 'Say what the key may do.'],
      [['--read-only', '--', ...tell], 2, '--read-only needs --virtual-cluster or --cluster.'],
      [[...DEMO, '--for', '0s', '--', ...tell], 2, '--for must be more than 0'],
      [[...DEMO, '--ask', '--', ...tell], 2, '--ask needs a terminal.'],
      [[...DEMO, '--rule', '[]', '--', ...tell], 2, '--rule must be a JSON object'],
      [['--virtual-cluster', 'demo/none', '--', ...tell], 4, 'none'],
    ]
    for (const [args, code, text] of wrong) expect(await cli.run(['run', ...args])).toMatchObject(says(code, text))
    expect((await server.call(keys)).json.items.length).toBe(before)
  })
})

describe('signals', () => {
  // threat: cli-7
  test.each(['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGUSR2'] as const)(
    '%s reaches the command, and the key ends',
    async (signal) => {
      const run = await begin([...DEMO, '--', ...tell])
      run.kill(signal)
      const { code } = await run.ended
      expect(code).toBe(128 + { SIGTERM: 15, SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGUSR2: 12 }[signal])
      expect((await stored(run.name)).status).toBe(404)
      expect(existsSync(run.folder)).toBe(false)
    },
  )

  // threat: cli-7
  test('end the key soon, also of a command that goes on', async () => {
    const ignoring = node(`process.on('SIGTERM', () => {});${TELL}`)
    const run = await begin([...DEMO, '--', ...ignoring])
    run.kill('SIGTERM')
    await expect.poll(async () => (await stored(run.name)).status).toBe(404)
    expect(run.child.exitCode).toBe(null)
    run.child.stdin.end()
    expect((await run.ended).code).toBe(0)
  })

  // threat: cli-7
  test('a killed program leaves a key that ends by itself', async () => {
    const run = await begin([...DEMO, '--for', '10m', '--', ...tell])
    run.kill('SIGKILL')
    await run.ended
    const { spec, status } = (await stored(run.name)).json
    expect([spec.ttl, status.phase]).toEqual([600, 'Active'])
    await rm(run.folder, { recursive: true })
  })
})

const through = async (act: (typeof front)['act']) => {
  front.act = act
  return { KEYPLANE_URL: front.base, KEYPLANE_CA: await cli.write('front.crt', front.certificateAuthority) }
}

describe('from its key on, a session ends in one place', () => {
  const KEYS = '/apis/management.platform/v1/ownedaccesskeys'
  /** Returns the environment of a front that acts on the changes of keys, and which there were. */
  const watching = async (act: (request: string) => unknown = () => {}) => {
    const changes: string[] = []
    const env = await through(async (moment, { method, path }) => {
      if (moment === 'after') return false
      const isChange = method !== 'GET' && path.startsWith(KEYS)
      if (isChange) changes.push(method)
      return (await act(isChange ? method : path.endsWith('/kubeconfig') ? 'kubeconfig' : '')) === true
    })
    return { env, changes }
  }
  const living = async () =>
    (await server.call(`${keys}?fieldSelector=status.madeWith.name=${key.name}`)).json.items.length
  const RAN = ['sh', '-c', 'touch ran']
  const hasRun = () => existsSync(join(cli.home, 'ran'))

  // threat: cli-7
  test.each([
    ['before the answer with the key', 'POST'],
    ['before the kube config', 'kubeconfig'],
  ])('a signal %s starts nothing and ends the key', async (_, at) => {
    const sent = { signal: false }
    const { env, changes } = await watching(async (request) => {
      if (request === at) sent.signal = (await running).child.kill('SIGTERM')
    })
    const running = cli.start(['run', ...DEMO, '--', ...RAN], { env })
    const { code } = await (await running).ended
    expect([sent.signal, code, hasRun(), changes, await living()]).toEqual([true, 143, false, ['POST', 'DELETE'], 0])
  })

  // threat: cli-7
  test('a second signal does not break off the end', async () => {
    let cuts = 0
    const { env, changes } = await watching(async (request) => {
      if (request === 'kubeconfig') (await running).kill('SIGTERM')
      if (request !== 'DELETE' || cuts++ > 0) return false
      ;(await running).kill('SIGINT')
      return true
    })
    const running = cli.start(['run', ...DEMO, '--', ...RAN], { env })
    const { code } = await (await running).ended
    expect([code, hasRun(), changes, await living()]).toEqual([143, false, ['POST', 'DELETE', 'DELETE'], 0])
  })

  // threat: cli-7
  test('a command does not start after a signal that came with no request to break off', async () => {
    let receive = (_: NodeJS.Signals) => {}
    const signals = receiveSignals({
      isTerminal: { in: true, out: true, err: true },
      signal: unlimited(),
      passSignals: (listener) => {
        receive = listener
        return () => {}
      },
    })
    receive('SIGINT')
    const file = join(cli.home, 'ran')
    expect(await runCommand(signals, ['touch', file], process.env, async () => {})).toBe(130)
    expect(existsSync(file)).toBe(false)
  })

  // threat: cli-7
  test('nobody reads standard error: the command runs, and its key ends', async () => {
    const { env, changes } = await watching()
    const running = await cli.start(['run', ...DEMO, '--', 'sh', '-c', 'touch ran; exit 3'], { env })
    running.child.stderr.destroy()
    const { code } = await running.ended
    expect([code, hasRun(), changes, await living()]).toEqual([3, true, ['POST', 'DELETE'], 0])
  })

  test('files that the command has replaced change neither its exit code nor the report', async () => {
    const script = 'rm -r runtime session.env; touch runtime; mkdir session.env; exit 3'
    await mkdir(join(cli.home, 'runtime'))
    const ran = await cli.run(['run', ...DEMO, '--env-out', 'session.env', '--', 'sh', '-c', script], {
      env: { XDG_RUNTIME_DIR: join(cli.home, 'runtime') },
    })
    expect(ran).toMatchObject(says(3, /has ended\.[\s\S]*session\.env was not deleted: something else has taken its/))
    expect(ran.stderr).toMatch(/keyplane-run-\w+ was not deleted: a part of its path is not a folder\./)
    expect((await stat(join(cli.home, 'session.env'))).isDirectory()).toBe(true)
  })
})

describe('where it cannot go well', () => {
  test('a key that may make no keys says which entry would allow it, and a job is told of its ID token', async () => {
    await patchKey({ scope: { virtualClusters: [{ project: 'demo', virtualCluster: 'demo' }] } })
    const args = ['run', ...DEMO, '--read-only', '--', ...tell]
    const refused = await cli.run(args)
    expect(refused).toMatchObject(
      says(
        4,
        /"verbs":\["create"\],"resources":\[\{"group":"management.platform","resources":\["ownedaccesskeys"\].* would allow it/,
      ),
    )
    expect(refused.stderr).toContain('which must be allowed to make keys')
    const inJob = await cli.run(args, { env: { BITBUCKET_STEP_OIDC_TOKEN: 'x' } })
    expect(inJob).toMatchObject(
      says(
        4,
        /^This job has an ID token\..*: https:\/\/127\.0\.0\.1:\d+\/local\/console\/docs\/federation\nscope=\{.*"roles":\[\{"role":"view"\}\]\}$/m,
      ),
    )
  })

  test('a scope that is too long says what to shorten, and an unknown cluster how to make it known', async () => {
    const clusters = Array.from({ length: 400 }, (_, at) => ({ cluster: `cluster-${at}` }))
    const file = await cli.write('long.yaml', JSON.stringify({ clusters }))
    const long = await cli.run(['run', '--scope', file, '--', 'true'])
    expect(long).toMatchObject(says(4, /spec\.scope: Too long[\s\S]*A shorter scope has fewer entries\./))
    const unknown = await cli.run(['run', '--cluster', 'nowhere', '--read-only', '--', 'true'])
    expect(unknown).toMatchObject(says(4, 'keyplane clusters create nowhere'))
  })

  test('the key of a team or of another identity makes one of the same', async () => {
    const file = await cli.write('scope.yaml', '{}')
    for (const identity of [{ team: 'shop' }, { subject: 'robot' }]) {
      const { token } = await server.makeKey(identity)
      const run = await begin(['--scope', file, '--', ...tell], { KEYPLANE_KEY: token })
      expect((await stored(run.name)).json.spec).toMatchObject(identity)
      run.child.stdin.end()
      expect(await run.ended).toMatchObject(says(0, 'has ended.'))
    }
  })

  test('the key is made with that of the caller: its scopes hold, and it does not outlive it', async () => {
    const rule = {
      verbs: ['create', 'get', 'delete'],
      resources: [{ group: 'management.platform', resources: ['ownedaccesskeys', 'ownedaccesskeys/usage'] }],
    }
    await patchKey({
      ttl: 900,
      scope: { rules: [rule], virtualClusters: [{ project: 'demo', virtualCluster: 'demo' }] },
    })
    const run = await begin([...DEMO, '--for', '1h', '--', ...tell])
    expect(run.said.stderr).toContain('Warning: your own key ends in 15m, and this one with it')
    const { spec, status } = (await stored(run.name)).json
    expect(spec.ttl).toBeLessThanOrEqual(900)
    expect(status.madeWith.name).toBe(key.name)
    // The kube config of another virtual cluster is outside both.
    const other = '/apis/management.platform/v1/namespaces/p-demo/virtualclusterinstances/other/kubeconfig'
    expect((await server.call(other, { method: 'POST', body: {}, token: run.key })).status).toBe(403)
    run.child.stdin.end()
    expect(await run.ended).toMatchObject(says(0, `${run.name} has ended.`))
  })

  test('a key in a file is no reason to warn', async () => {
    const ran = await cli.run(['run', ...DEMO, '--', 'true'], {
      env: { KEYPLANE_KEY: undefined, KEYPLANE_KEY_FILE: await cli.write('key', key.value) },
    })
    expect(ran).toMatchObject(says(0, 'has ended.'))
    expect(ran.stderr).not.toMatch(/Warning|Removed/)
  })

  test('the API is away at the start: nothing is run', async () => {
    const env = await through(() => true)
    const { code } = await cli.run(['run', ...DEMO, '--', 'touch', 'ran'], { env })
    expect([code, existsSync(join(cli.home, 'ran'))]).toEqual([1, false])
  })

  test('the API is away at the end: the report says when the key ends, and the exit code is that of the command', async () => {
    const env = await through(() => false)
    const run = await begin(
      [...DEMO, '--for', '10m', '--', ...node(`process.stdin.on('end', () => process.exit(3));${TELL}`)],
      env,
    )
    const { expirationTimestamp } = (await stored(run.name)).json.status
    await through(() => true)
    run.child.stdin.end()
    expect(await run.ended).toMatchObject(
      says(
        3,
        new RegExp(
          `^${run.name} could not be ended: .* It ends by itself at ${expirationTimestamp}\\. What it did in \\d+s is not known: `,
          'm',
        ),
      ),
    )
    expect(existsSync(run.folder)).toBe(false)
  })

  test('somebody deletes the key: the command goes on, and the report has what was known', async () => {
    const minute = { pass: () => {} }
    const clock = givenClock((ms) =>
      ms === 60_000 ? new Promise<void>((pass) => Object.assign(minute, { pass })) : undefined,
    )
    const first = minute.pass
    const aMinuteAfter = async (act: () => unknown) => {
      await act()
      const { pass } = minute
      pass()
      await expect.poll(() => minute.pass).not.toBe(pass)
    }
    const env = await through(() => false)
    const waiting = ['sh', '-c', 'until [ -e done ]; do sleep 0.1; done']
    const run = cli.begin(['run', ...DEMO, '--', ...waiting], { env, clock })
    await run.until(/^Key run-/m)
    await expect.poll(() => minute.pass).not.toBe(first)
    await aMinuteAfter(() => {})
    await aMinuteAfter(() => through((moment, { path }) => moment === 'before' && path.endsWith('/usage')))
    await aMinuteAfter(() => through(() => false))
    const name = nameIn(run.said.stderr)
    expect((await server.call(`${keys}/${name}`, { method: 'DELETE' })).status).toBe(200)
    minute.pass()
    await run.until(/^run-\S+ was deleted\. The command goes on without a key\.$/m)
    await cli.write('done', '')
    const { code, stderr } = await run.ended
    expect(code).toBe(0)
    expect(stderr).toMatch(/has ended\. In .*:\n {2}create virtualclusterinstances\/kubeconfig "demo"/)
    expect(stderr).toContain('The last minute or more is missing: ')
    expect(stderr).toMatch(/keyplane could not be reached for \d+[sm] of it\./)
  })

  // threat: cli-7
  test('a key whose answer was lost is ended by its name', async () => {
    let made = ''
    const env = await through(async (moment, { method, path }) => {
      if (method !== 'POST' || path !== '/apis/management.platform/v1/ownedaccesskeys' || moment === 'before')
        return false
      const { items } = (await server.call(`${keys}?fieldSelector=status.madeWith.name=${key.name}`)).json
      made = items[0].metadata.name
      return true
    })
    expect((await cli.run(['run', ...DEMO, '--', 'true'], { env })).code).toBe(1)
    expect(made).toMatch(/^run-alice-/)
    expect((await stored(made)).status).toBe(404)
  })

  // threat: cli-7
  test('a key that gets no kube config is ended', async () => {
    const env = await through(async (moment, { path }) => moment === 'before' && path.endsWith('/kubeconfig'))
    expect((await cli.run(['run', ...DEMO, '--', 'true'], { env })).code).toBe(1)
    const names = (await server.call(`${keys}?labelSelector=keyplane/session`)).json.items
    expect(names.map(({ status }: { status: { madeWith: { name: string } } }) => status.madeWith.name)).not.toContain(
      key.name,
    )
  })
})

test('--rule is about the cluster of the command, and --scope is taken as it is', async () => {
  const file = await cli.write('scope.yaml', 'roles: [{role: platformCLI}]\n')
  const rule = '{"verbs":["list"],"resources":[{"resources":["pods"]}]}'
  const run = await begin([...DEMO, '--rule', rule, '--scope', file, '--', ...tell])
  expect((await stored(run.name)).json.spec.scope).toEqual({
    roles: [{ role: 'platformCLI' }],
    rules: [
      {
        verbs: ['list'],
        resources: [{ resources: ['pods'] }],
        virtualClusters: [{ namespace: 'p-demo', name: 'demo' }],
      },
      {
        verbs: ['create'],
        resources: [
          { group: 'management.platform', resources: ['virtualclusterinstances/kubeconfig'], resourceNames: ['demo'] },
        ],
        namespaces: ['p-demo'],
        requestTargets: ['Management'],
      },
    ],
  })
  expect(run.said.stderr).toMatch(
    /: what these entries allow:\n {2}roles: \{role: platformCLI\}\n {2}rules: .*\nIt; ends in 1h/,
  )
  run.child.stdin.end()
  await run.ended
  const alone = await cli.spawn(['run', '--scope', file, '--', 'sh', '-c', 'cat "$KUBECONFIG"'])
  expect(alone).toMatchObject({ code: 0, stdout: expect.stringContaining('clusters: []') })
})

describe('where keys live an hour at most', () => {
  const strict = useServer({ MAX_KEY_TTL_SECONDS: '3600', MAX_KEYS_PER_OWNER: '2' })
  const other = useCommandLine(strict)

  test('a longer --for is cut to the end of the own key, and a key that has ended has left its place', async () => {
    const { token } = await strict.makeKey({ user: 'bob' })
    const file = await other.write('scope.yaml', '{}')
    const begin = () =>
      other.run(['run', '--scope', file, '--for', '2h', '--', 'true'], { env: { KEYPLANE_KEY: token } })
    for (const _ of [1, 2, 3])
      expect(await begin()).toMatchObject(
        says(0, /^Warning: your own key ends in 1h, and this one with it\n[\s\S]*has ended\./),
      )
    await strict.makeKey({ user: 'bob' })
    expect(await begin()).toMatchObject(says(4, 'exceeded quota'))
  })
})

test('--ask says what the key may do and makes it only after a yes', async () => {
  const before = (await server.call(keys)).json.items.length
  const no = await cli.run(['run', ...DEMO, '--read-only', '--ask', '--', 'true'], { isTerminal: true, input: 'n\n' })
  expect(no).toMatchObject(
    says(1, /^The key: read-only in virtual cluster demo\/demo, .*\n.*\nRun .* \[y\/N\] Nothing was made/m),
  )
  expect((await server.call(keys)).json.items.length).toBe(before)
  const yes = await cli.run(['run', ...DEMO, '--ask', '--', 'true'], { isTerminal: true, input: 'y\n' })
  expect(yes).toMatchObject(says(0, /run-alice-\w+ has ended\./))
})

test('--env-out has the variables for a container, without a secret, until the end', async () => {
  const file = join(cli.home, 'session.env')
  const run = await begin([...DEMO, '--env-out', file, '--', ...tell], { XDG_RUNTIME_DIR: cli.home })
  expect(dirname(run.folder)).toBe(cli.home)
  expect((await stat(run.folder)).mode & 0o777).toBe(0o700)
  const text = await readFile(file, 'utf8')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const { KEYPLANE_URL, KUBECONFIG, KEYPLANE_KEY_FILE } = run.env
  for (const line of [
    `KEYPLANE_URL=${KEYPLANE_URL}`,
    `KUBECONFIG=${KUBECONFIG}`,
    `KEYPLANE_KEY_FILE=${KEYPLANE_KEY_FILE}`,
  ])
    expect(text.split('\n')).toContain(line)
  expect(text).not.toContain(run.key)
  run.child.stdin.end()
  await run.ended
  expect(existsSync(file)).toBe(false)
})

test('--env-out is made at once, and neither it nor what somebody puts there is overwritten', async () => {
  const file = join(cli.home, 'session.env')
  await writeFile(file, 'mine')
  expect(await cli.run(['run', ...DEMO, '--env-out', file, '--', 'true'])).toMatchObject(says(2, 'is not overwritten'))
  expect(await readFile(file, 'utf8')).toBe('mine')
  await rm(file)
  let found: string | undefined
  const env = await through(async () => {
    if (found === undefined) {
      found = await readFile(file, 'utf8')
      await rm(file)
      await writeFile(file, 'of another')
    }
    return false
  })
  const ran = await cli.run(['run', ...DEMO, '--env-out', file, '--', 'true'], { env })
  expect(ran).toMatchObject(says(0, 'was not deleted: something else has taken its place.'))
  expect(found).toBe('')
  expect(await readFile(file, 'utf8')).toBe('of another')
})

test('--env-out is removed if nothing was run', async () => {
  const file = join(cli.home, 'session.env')
  const args = ['run', '--virtual-cluster', 'demo/none', '--env-out', file, '--', 'true']
  expect((await cli.run(args)).code).toBe(4)
  expect(existsSync(file)).toBe(false)
})
