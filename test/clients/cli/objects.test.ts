/** The commands of trusts, identity providers and virtual clusters, and who reaches a cluster, against the whole API. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserCall } from '../../../clients/cli/src/io/process.ts'
import { type Federation, startFederation, trusts } from '../../support/federation.ts'
import { clusters } from '../../support/objects.ts'
import { useServer } from '../../support/sharedserver.ts'
import { says, useCommandLine } from './commandline.ts'

const server = useServer()
const cli = useCommandLine(server)
let federation: Federation
beforeAll(async () => {
  federation = await startFederation(server)
})
afterAll(() => federation.close())

const eu = { clusters: [{ cluster: 'eu' }] }

describe('trusts and providers', () => {
  test('are listed, shown and deleted', async () => {
    await federation.trust('deploy-eu', { scope: eu, displayName: 'Deploy\u001b[2J' })
    expect(await cli.ok(['trusts', 'list'])).toMatch(
      /^NAME +PROVIDER +OWNER +MAY DO +STATE +CLAIMS\n(.*\n)*deploy-eu +\S+ +\S+ +cluster eu +active +\w+=/,
    )
    expect(await cli.ok(['trusts', 'list', '-o', 'name'])).toContain('deploy-eu\n')
    const shown = await cli.ok(['trusts', 'show', 'deploy-eu'])
    expect(shown).toMatch(/^Display name +Deploy\\u\{1b\}\[2J$/m)
    expect(shown).toMatch(/^May do +cluster eu$[\s\S]*^State +active$/m)
    expect(shown).not.toContain('Refused last')
    const { clientID } = (await server.call(`${trusts}/deploy-eu`)).json.status
    await federation.exchange(clientID, federation.sign({ event_name: 'pull_request_target' }))
    expect(await cli.ok(['trusts', 'show', 'deploy-eu'])).toMatch(
      /^Refused last +20\S+Z, repo:\S+: claim event_name is 'pull_request_target', which this client_id does not accept$/m,
    )
    const [provider = ''] = (await cli.ok(['providers', 'list', '-o', 'name'])).split('\n')
    expect(await cli.ok(['providers', 'show', provider])).toMatch(/^Issuer +https:/m)
    expect(await cli.run(['trusts', 'show', 'depoly-eu'])).toMatchObject(says(4, 'Did you mean "deploy-eu"?'))
    expect(await cli.run(['trusts', 'delete', 'deploy-eu'])).toMatchObject(says(2, 'There is no terminal to ask in.'))
    const ask = (input: string) => cli.run(['trusts', 'delete', 'deploy-eu'], { isTerminal: true, input })
    expect(await ask('n\n')).toMatchObject(says(0, /Delete the trust deploy-eu\? \[y\/N\] Nothing was changed\.\n$/))
    expect(await ask('y\n')).toMatchObject(says(0, 'deploy-eu is deleted.'))
    expect((await server.call(`${trusts}/deploy-eu`)).status).toBe(404)
    for (const word of ['trusts', 'providers'])
      for (const verb of ['show', 'delete'])
        expect(await cli.run([word, verb, '../selves', ...(verb === 'delete' ? ['--yes'] : [])])).toMatchObject({
          code: 2,
        })
  })
})

describe('trusts create', () => {
  const create = (name: string, ...args: string[]) => cli.run(['trusts', 'create', name, ...args])
  const bound = ['--provider', 'github', '--claim', 'repository_id=74']

  test('makes a trust with which a job gets a token of its cluster, and prints its client ID', async () => {
    const more = ['--claim', 'environment=production', '--claim', 'environment=a=b', '--team', 'shop', '--ttl', '30m']
    const args = [...bound, ...more, '--cluster', 'eu', '--tokens-only', '--display-name', 'Shop']
    expect(await create('made', ...args, '--dry-run')).toMatchObject(says(0, 'Dry run', ''))
    const { code, stdout } = await create('made', ...args)
    const { json } = await server.call(`${trusts}/made`)
    expect([code, stdout]).toEqual([0, `made@${json.metadata.uid}\n`])
    expect(json.spec).toMatchObject({
      identityProvider: 'github',
      claims: [
        { claim: 'repository_id', values: ['74'] },
        { claim: 'environment', values: ['production', 'a=b'] },
      ],
      scope: { clusters: [{ cluster: 'eu' }] },
      ...{ team: 'shop', ttl: 1800, tokensOnly: true, displayName: 'Shop' },
    })
    expect(await create('made', ...args)).toMatchObject(says(4, 'already exists', ''))
  })

  test.each<[string[], string]>([
    [['--claim', 'a=b', '--cluster', 'eu'], '--provider is missing'],
    [['--provider', 'github', '--cluster', 'eu'], 'for every job of the provider'],
    [['--provider', 'github', '--claim', 'a', '--cluster', 'eu'], '--claim must be CLAIM=VALUE, not "a"'],
    [bound, 'Say what the jobs may do'],
    [[...bound, '--cluster', 'eu', '--user', 'a', '--team', 'b'], 'exclude each other'],
  ])('refuses %j', async (args, message) => expect(await create('none', ...args)).toMatchObject(says(2, message, '')))
})

test('virtual clusters are named with their project', async () => {
  await server.make('/apis/management.platform/v1/namespaces/p-shop/virtualclusterinstances', {
    apiVersion: 'management.platform/v1',
    kind: 'VirtualClusterInstance',
    metadata: { name: 'dev' },
    spec: { owner: { user: 'alice' }, displayName: 'Shop' },
  })
  expect(await cli.ok(['virtual-clusters', 'list'])).toMatch(/^NAME +OWNER .*\n(.*\n)*shop\/dev +alice /)
  expect(await cli.ok(['virtual-clusters', 'show', 'shop/dev'])).toMatch(
    /^Name +shop\/dev\nDisplay name +Shop\nOwner +alice$/m,
  )
  expect(await cli.run(['virtual-clusters', 'show', 'dev'])).toMatchObject(says(2, 'PROJECT/NAME'))
  expect(await cli.run(['virtual-clusters', 'delete', 'shop/dev', '--yes'])).toMatchObject(
    says(0, 'shop/dev is deleted.'),
  )
  expect(await cli.run(['virtual-clusters', 'show', 'shop/dev'])).toMatchObject({ code: 4 })
})

describe('--web', () => {
  const pages = readFileSync(join(import.meta.dirname, '../../../clients/console/src/shell/pages.ts'), 'utf8')

  test.each([
    ['keys show ci a', ['keys', 'ci%20a']],
    ['trusts show shop', ['trusts', 'credentials', 'shop']],
    ['providers show github', ['trusts', 'providers', 'github']],
    ['virtual-clusters show shop/dev', ['virtual-clusters', 'p-shop', 'dev']],
    ['clusters show eu', ['clusters', 'eu']],
  ])('of %s is the address of a page of the console, which is asked for no object', async (line, parts) => {
    const [group = '', verb = '', ...name] = line.split(' ')
    const opened: string[] = []
    const run = (isTerminal: boolean) =>
      cli.run([group, verb, name.join(' '), '--web'], { isTerminal, openBrowser: (url) => void opened.push(url) })
    const url = `${server.root}/console/#/${parts.join('/')}`
    expect(await run(false)).toEqual({ code: 0, stdout: `${url}\n`, stderr: '' })
    expect(opened).toEqual([])
    expect((await run(true)).stdout).toBe(`${url}\n`)
    expect(opened).toEqual([url])
    expect(pages).toMatch(new RegExp(`page: '${parts[0]}',\\s+parts: ${parts.length - 1},`))
  })

  test('starts no shell, which could read the address', () => {
    const url = 'https://a.example.com/x&y=$(z)'
    expect((['darwin', 'linux', 'win32'] as const).map((platform) => browserCall(platform, url))).toEqual([
      ['open', [url]],
      ['xdg-open', [url]],
      ['rundll32', ['url.dll,FileProtocolHandler', url]],
    ])
  })
})

describe('clusters who', () => {
  test('lists keys and trusts with the reason, and leaves out those of reviews and what is ended', async () => {
    await server.make(clusters, { metadata: { name: 'eu' }, spec: { server: 'https://eu.example.com' } })
    const make = (name: string, spec: object) => server.makeKey({ user: 'wes', ...spec }, { name })
    const { token } = await make('who-named', { scope: eu })
    await make('who-all', { scope: { clusters: [{ cluster: '*' }] } })
    await make('who-none', {})
    await make('who-us', { scope: { clusters: [{ cluster: 'us' }] } })
    const agent = await make('who-agent', { scope: { ...eu, roles: [{ role: 'agent' }] } })
    await server.post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token } }, agent.token)
    await make('who-disabled', { scope: eu, disabled: true })
    await federation.trust('who-trust', { scope: eu })
    const names = (await cli.ok(['clusters', 'who', 'eu', '-o', 'name'])).split('\n')
    expect(names.filter((one) => one.startsWith('who-'))).toEqual(['who-all', 'who-named', 'who-none', 'who-trust'])
    const { stdout, stderr } = await cli.run(['clusters', 'who', 'eu'])
    expect(stdout).toMatch(/^who-named +key +wes +its scope names the cluster +\d{4}-\d\d-\d\d$/m)
    expect(stdout).toMatch(/^who-all +key +wes +its scope names every cluster \(\*\) +none recorded$/m)
    expect(stdout).toMatch(/^who-none +key +wes +no scope limits it /m)
    expect(stdout).toMatch(/^who-trust +trust +\S+ +its scope names the cluster$/m)
    expect(stderr).toMatch(/^\d+ of the active keys and trusts that you may list may get a token for eu\.\n$/)
  })

  test('answers for a virtual cluster', async () => {
    const path = '/apis/management.platform/v1/namespaces/p-who/virtualclusterinstances'
    await server.make(path, { metadata: { name: 'dev' }, spec: { owner: { user: 'wes' } } })
    await server.makeKey({ user: 'wes', scope: { projects: [{ project: 'who' }] } }, { name: 'who-project' })
    const who = (...args: string[]) => cli.run(['virtual-clusters', 'who', 'who/dev', ...args])
    const { stdout, stderr } = await who()
    expect(stdout).toMatch(/^who-project +key +wes +owner, its scope names the project +none recorded$/m)
    expect(stdout).toMatch(/^who-none +key +wes +owner, no scope limits it /m)
    expect(stdout).not.toContain('who-all')
    expect(stderr).toMatch(
      /^\d+ of the active keys and trusts that you may list may get a kube config of who\/dev\.\n$/,
    )
    const { items } = JSON.parse((await who('-o', 'json')).stdout)
    const found = items.find(({ metadata }: { metadata: { name: string } }) => metadata.name === 'who-project')
    expect(found).toMatchObject({ right: 'owner', reach: 'project', lastUse: 'none recorded' })
    expect(await cli.run(['virtual-clusters', 'who', 'who/none'])).toMatchObject({ code: 4, stdout: '' })
  })

  test('says which of them the reader may not list', async () => {
    const scope = { rules: [{ resources: [{ group: 'management.platform', resources: ['ownedaccesskeys'] }] }] }
    const reader = await server.makeKey({ user: 'wes', scope })
    const env = { KEYPLANE_KEY: reader.token }
    expect(await cli.run(['clusters', 'who', 'eu'], { env })).toMatchObject(says(0, 'Trusts are left out: '))
    expect(await cli.run(['clusters', 'who', '../x'])).toMatchObject(says(2, 'cannot be the name of a cluster'))
  })
})
