/** The commands about what keys do and do not need, against the whole API. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Federation, startFederation, trusts } from '../../support/federation.ts'
import { instance, instances, keys } from '../../support/objects.ts'
import type { MadeKey } from '../../support/server.ts'
import { publishEvents, useServer } from '../../support/sharedserver.ts'
import { says, useCommandLine } from './commandline.ts'
import { givenClock } from './credentials/testio.ts'
import { useFront } from './front.ts'
import cases from './vectors/advise.cases.json' with { type: 'json' }

const server = useServer()
const cli = useCommandLine(server)
const front = useFront(server)

const today = new Date().toISOString().slice(0, 10)
const [real, smaller] = [{ projects: [{ project: 'a' }, { project: 'b' }] }, { projects: [{ project: 'a' }] }]

/** Makes a key that uses project a of a and b. */
async function makeUsed(name: string, spec: object = {}): Promise<MadeKey> {
  const key = await server.makeKey({ user: 'alice', groups: ['system:masters'], scope: real, ...spec }, { name })
  await list(key, 'a')
  return key
}
const list = ({ token }: MadeKey, project: string) => server.call(instances(`p-${project}`), { token })
const stored = async (name: string) => (await server.call(`${keys}/${name}`)).json
const advise = (...args: string[]) => cli.run(['advise', ...args])
const asked = (input: string, ...args: string[]) => cli.run(['advise', ...args], { isTerminal: true, input })

let federation: Federation
beforeAll(async () => {
  federation = await startFederation(server)
  await server.make(instances('p-a'), instance('x'))
})
afterAll(() => federation.close())

test('usage shows lines, requests and the last use', async () => {
  const clock = givenClock()
  await makeUsed('used')
  const shown = await cli.ok(['usage', 'used'], { clock })
  expect(shown).toMatch(/^Key +used\n(Recorded +since just now .*\n)?Last used +just now \(.*\)$/m)
  expect(shown).toContain(
    [
      'LINE                    STATE   LAST USED   ENTRY',
      `spec.scope.projects[0]  Used    ${today}  projects: {project: a}`,
      'spec.scope.projects[1]  Unused              projects: {project: b}',
      '',
      'REQUEST                                         LAST USED',
      `list of virtualclusterinstances in project "a"  ${today}`,
    ].join('\n'),
  )
  expect(JSON.parse(await cli.ok(['usage', 'used', '-o', 'json']))).toMatchObject({ kind: 'OwnedAccessKeyUsage' })
  expect(await cli.run(['usage', 'nobody'])).toMatchObject(says(4, 'not found', ''))
})

describe('advise', () => {
  test('shows the smaller scope as a diff', async () => {
    await makeUsed('diffed')
    const { code, stdout } = await advise('diffed')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^diffed does not need 1 of 2 lines of its scope\.\n/)
    expect(stdout).toContain('\n  - projects: {project: b}\n')
    expect(stdout).toMatch(
      /\nWhat is not known:\n {2}The record covers less than a day, so rare requests may be missing\./,
    )
    expect(stdout).toMatch(/\nOther improvements:\n {2}The key never expires/)
    const { status } = JSON.parse(await cli.ok(['advise', 'diffed', '-o', 'json']))
    expect(status).toMatchObject({ advice: { scope: smaller }, findings: [{ type: 'NeverExpires' }] })
    expect(status.entries).toBeUndefined()
  })

  test('prints a command of kubectl whose patch is refused once the scope has changed', async () => {
    await makeUsed('pasted')
    const printed = await cli.ok(['advise', 'pasted', '--patch'])
    const [, patch = ''] =
      /^kubectl patch ownedaccesskey pasted --type=json -p '(- op: test\n[^']*)'\n$/.exec(printed) ?? []
    const paste = async () => {
      const headers = { 'content-type': 'application/json-patch+json' }
      const body = JSON.stringify(load(patch))
      return (await server.call(`${keys}/pasted`, { method: 'PATCH', headers, body })).status
    }
    expect([await paste(), (await stored('pasted')).spec.scope, await paste()]).toEqual([200, smaller, 422])
  })

  test.each(['cmd', 'powershell'] as const)('prints it in one line for %s, in double quotes', async (shell) => {
    const name = `pasted-into-${shell}`
    await makeUsed(name)
    const printed = await cli.ok(['advise', name, '--patch'], { shell })
    const [, patch = ''] = /^kubectl patch ownedaccesskey \S+ "--type=json" -p "(\[[^"\n]*\])"\n$/.exec(printed) ?? []
    expect(load(patch)).toEqual([
      { op: 'test', path: '/spec/scope', value: real },
      { op: 'add', path: '/spec/scope', value: smaller },
    ])
  })

  test('says why there is no advice', async () => {
    await server.makeKey({ user: 'alice', scope: real }, { name: 'idle' })
    const { code, stdout } = await advise('idle')
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^No smaller scope is advised for idle\./)])
    expect(stdout).toContain('\nWhy:\n  No request that a scope can limit is recorded.\n')
    expect(await advise('idle', '--patch')).toMatchObject(says(0, 'No smaller scope is advised for idle.', ''))
    for (const step of [['--trial', '7d'], ['--apply']]) {
      expect(await advise('idle', ...step, '--yes')).toMatchObject(
        says(1, 'No smaller scope is advised for idle:\n  No request that', ''),
      )
    }
  })

  test.each(cases.refused as [string[], string][])('refuses %j before it sends anything', async (args, message) => {
    expect(await advise(...args)).toMatchObject(says(2, message, ''))
  })
})

describe('advise --all', () => {
  test('has a line for each key, those first that need the least of their scope', async () => {
    await makeUsed('all-less', { user: 'bob' })
    await makeUsed('all-more', { user: 'bob', scope: { ...real, clusters: [{ cluster: 'eu' }] } })
    await makeUsed('all-open', { user: 'bob', scope: undefined, groups: [] })
    const { token } = await server.makeKey({ user: 'bob', ttl: 3600 }, { name: 'all-own' })
    const run = (...args: string[]) => cli.ok(['advise', '--all', ...args], { env: { KEYPLANE_KEY: token } })
    const rows = (await run())
      .split('\n')
      .map((row) => row.split(/ {2,}/))
      .filter(([name]) => name !== 'all-own')
    expect(rows.slice(0, 4)).toEqual([
      ['NAME', 'NOT NEEDED', 'FINDINGS'],
      ['all-open', 'everything but 1 line', 'never expires, no scope'],
      ['all-more', '2 of 3 lines', 'never expires'],
      ['all-less', '1 of 2 lines', 'never expires'],
    ])
    const { kind, items } = JSON.parse(await run('-o', 'json'))
    const advised = items.find((one: { metadata: { name: string } }) => one.metadata.name === 'all-more')
    expect([kind, advised.status.advice.scope]).toEqual(['List', smaller])
  })

  test('leaves out the keys of exchanges', async () => {
    const client = await federation.trust('exchanging', { scope: real })
    await federation.exchange(client, federation.sign())
    const all = await cli.ok(['advise', '--all'])
    expect(all).not.toMatch(/^exchanging/m)
    const { stdout, stderr } = await asked('', '--all', '--exchanged')
    expect([stdout, stderr]).toEqual([expect.stringMatching(/^exchanging-/m), expect.stringMatching(/\d+ of \d+ …/)])
  })

  test('says whose usage it may not read', async () => {
    const resources = [{ group: 'management.platform', resources: ['ownedaccesskeys', 'ownedaccesskeys/usage'] }]
    const scope = { rules: [{ verbs: ['get', 'list'], resources }] }
    const { token } = await server.makeKey({ user: 'dora', scope }, { name: 'reader' })
    const run = () => cli.run(['advise', '--all'], { env: { KEYPLANE_KEY: token } })
    expect(await run()).toMatchObject(says(0, /^$/, expect.stringMatching(/^NAME .*\nreader /)))
    await server.makeKey({ user: 'dora' }, { name: 'unread' })
    expect(await run()).toMatchObject(says(0, /^1 key is left out: .*"unread"/, expect.not.stringContaining('unread')))
  })
})

describe('a trial', () => {
  test('begins, shows what it finds, is made real, and is undone', async () => {
    const key = await makeUsed('tried')
    const begun = await asked('y\n', 'tried', '--trial', '7d')
    expect(begun).toMatchObject(
      says(
        0,
        /^ {2}- projects: \{project: b\}\nUntil .*Try this scope for tried\? \[y\/N\] The trial runs until /s,
        '',
      ),
    )
    expect((await stored('tried')).spec.scopeTrial.scope).toEqual(smaller)
    expect(await cli.ok(['keys', 'show', 'tried'])).toMatch(
      /^Trial of a scope +ends in 7d \(.*\), would have refused nothing$/m,
    )
    expect(await advise('tried', '--trial', '1d', '--yes')).toMatchObject(
      says(1, 'A trial of tried runs already. It ends in 7d'),
    )
    expect(await advise('tried', '--apply', '--yes', '-o', 'json')).toMatchObject({ code: 0 })
    expect((await stored('tried')).spec).toMatchObject({ scope: smaller })
    expect((await list(key, 'b')).status).toBe(403)
    expect(await cli.ok(['keys', 'show', 'tried'])).toMatch(/^Former scope +projects a, b, kept until /m)
    expect(await advise('tried', '--undo', '--yes')).toMatchObject(
      says(0, '  + projects: {project: b}\nThis is the scope that the key had until '),
    )
    expect((await stored('tried')).spec.scope).toEqual(real)
    expect(await advise('tried', '--undo', '--yes')).toMatchObject(
      says(1, 'tried has no trial, and no former scope is kept.'),
    )
  })

  test('that would have refused requests is made real by force only', async () => {
    const key = await makeUsed('refusing')
    await advise('refusing', '--trial', '7d', '--yes')
    await list(key, 'b')
    expect(await cli.ok(['keys', 'show', 'refusing'])).toContain(
      `would have refused 1 kind of requests, the last on ${today}\n`,
    )
    expect(await cli.ok(['usage', 'refusing'])).toMatch(/"b" .* its trial\n/)
    const unasked = await asked('y\n', 'refusing', '--apply')
    expect(unasked.stderr).not.toContain('[y/N]')
    expect(unasked).toMatchObject(
      says(4, `would have refused requests:\n  list of virtualclusterinstances in project "b" (${today})\n`),
    )
    expect((await stored('refusing')).spec.scope).toEqual(real)
    expect(await advise('refusing', '--apply', '--force', '--yes')).toMatchObject({ code: 0 })
    expect((await stored('refusing')).spec.scope).toEqual(smaller)
  })

  test('ends by an undo before anything was made real, and a scope that was not tried is undone, too', async () => {
    await makeUsed('ended')
    await advise('ended', '--trial', '7d', '--yes')
    await advise('ended', '--trial', '9d', '--replace', '--yes')
    expect(await advise('ended', '--undo', '--yes')).toMatchObject(
      says(0, 'The trial of ended has ended. Its scope stays as it was.'),
    )
    expect((await stored('ended')).spec.scopeTrial).toBeUndefined()
    expect(await asked('n\n', 'ended', '--apply')).toMatchObject(
      says(1, /There was no trial\..*Nothing was changed\./s),
    )
    expect((await stored('ended')).spec.scope).toEqual(real)
    expect(await advise('ended', '--apply', '--yes')).toMatchObject({ code: 0 })
    const { spec } = await stored('ended')
    expect([spec.scope, spec.scopeTrial]).toEqual([smaller, undefined])
    expect(await advise('ended', '--undo', '--yes')).toMatchObject({ code: 0 })
    expect((await stored('ended')).spec.scope).toEqual(real)
  })

  test('changes nothing if somebody else changes the key meanwhile', async () => {
    await makeUsed('raced')
    const env = { KEYPLANE_URL: front.base, KEYPLANE_CA: await cli.write('front.crt', front.certificateAuthority) }
    front.act = async (moment, { method, path }) => {
      if (moment === 'before' && method === 'PATCH' && !path.includes('dryRun'))
        await server.patch(`${keys}/raced`, { spec: { scope: { projects: [{ project: 'c' }] } } })
      return false
    }
    expect(await cli.run(['advise', 'raced', '--apply', '--yes'], { env })).toMatchObject(
      says(4, 'raced has changed meanwhile. This command has changed nothing.'),
    )
    expect((await stored('raced')).spec.scope).toEqual({ projects: [{ project: 'c' }] })
  })
})

test('what a step adds is shown before it, and scopes that were added are dropped by an undo of their own', async () => {
  const rules = [{ verbs: ['*'], resources: [{ group: 'management.platform', resources: ['ownedaccesskeys'] }] }]
  const key = await server.makeKey({ user: 'alice', scope: { rules, ...smaller } }, { name: 'narrowed' })
  const asItself = { env: { KEYPLANE_KEY: key.token } }
  expect(await advise('narrowed', '--trial', '7d', '--project', 'c', '--yes')).toMatchObject(
    says(0, /\n {2}\+ projects: \{project: c\}\n.* What is marked with \+ may allow more than before\./),
  )
  expect(await cli.run(['advise', 'narrowed', '--apply', '--force', '--yes'], asItself)).toMatchObject(
    says(0, /is also limited by a scope/),
  )
  expect(await advise('narrowed', '--undo', '--yes')).toMatchObject(says(0, 'narrowed has its former scope again.'))
  await server.patch(`${keys}/narrowed`, { spec: { scope: { rules, projects: null } } }, key.token)
  await server.patch(`${keys}/narrowed`, { spec: { scope: { rules, ...real } } })
  expect((await stored('narrowed')).status.addedScopes).toHaveLength(1)
  expect(await cli.ok(['keys', 'show', 'narrowed'])).toMatch(/^Also limited to +/m)
  expect(await advise('narrowed', '--undo', '--yes')).toMatchObject(
    says(0, /It is no longer limited to:\n {4}rules: .*narrowed is limited by its own scope/s),
  )
  expect((await stored('narrowed')).status.addedScopes).toBeUndefined()
})

test('a chosen scope is tried, also by a trust, which has no advice', async () => {
  await server.makeKey({ user: 'alice', scope: real }, { name: 'chosen' })
  await cli.ok(['advise', 'chosen', '--trial', '7d', '--project', 'a', '--yes'])
  expect((await stored('chosen')).spec.scopeTrial.scope).toEqual(smaller)
  expect(
    await advise('chosen', '--trial', '7d', '--project', 'b', '--project', 'a', '--replace', '--yes'),
  ).toMatchObject(says(1, 'chosen has this scope already, so there is nothing to try.'))
  const client = await federation.trust('deploy', { scope: real })
  const run = (...args: string[]) => advise('deploy', '--trust', ...args)
  const trust = async () => (await server.call(`${trusts}/deploy`)).json
  expect(await run('--apply', '--yes')).toMatchObject(says(1, 'deploy has no trial.'))
  expect(await run('--trial', '7d', '--project', 'a', '--yes')).toMatchObject(
    says(0, /^ {2}- projects: \{project: b\}\n.*To make its scope real: keyplane advise deploy --trust --apply$/ms),
  )
  const { json } = await federation.exchange(client, federation.sign())
  await server.call(instances('p-b'), { token: json.access_token })
  expect(await run()).toMatchObject(
    says(
      0,
      '',
      expect.stringMatching(
        /^Its keys may do +projects a, b\nTrial of a scope .* would have refused 1 kind of requests, the last on /ms,
      ),
    ),
  )
  expect(await run('--apply', '--yes')).toMatchObject(
    says(4, 'To make it real anyway: keyplane advise deploy --trust --apply --force'),
  )
  await cli.ok(['advise', 'deploy', '--trust', '--apply', '--force', '--yes'])
  const { spec } = await trust()
  expect([spec.scope, spec.scopeTrial]).toEqual([smaller, undefined])
  await cli.ok(['advise', 'deploy', '--trust', '--undo', '--yes'])
  expect((await trust()).spec.scope).toEqual(real)
})

test('docs/usage.md shows what its commands print', async () => {
  const page = await readFile(join(import.meta.dirname, '../../../docs/usage.md'), 'utf8')
  const shown = [...page.matchAll(/^```sh\nkeyplane (.*)\n```\n\n((?: {4}.*\n|\n(?= {4}))+)/gm)]
  expect(shown).toHaveLength(4)
  await publishEvents()
  await makeUsed('ci', { scope: { projects: [{ project: 'a' }, { project: 'old' }] } })
  const undated = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:]+Z/g, 'TIME')
  for (const [, call = '', output = ''] of shown) {
    const { stdout, stderr } = await cli.run(call.split(' '), { isTerminal: true, input: 'y\n' })
    const typed = output.replaceAll(/^ {4}/gm, '').replace('[y/N] y\n', '[y/N] ')
    expect(undated(stdout + stderr)).toBe(undated(typed))
  }
})
