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
    expect(await advise('idle', '--apply', '--yes')).toMatchObject(
      says(1, 'No smaller scope is advised for idle:\n  No request that', ''),
    )
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

describe('the advised scope', () => {
  test('is shown before it is set, and the former one is put back', async () => {
    const key = await makeUsed('applied')
    const removed =
      'May do now   projects a, b\nMay do then  project a\n  - projects: {project: b}\nRequests that need what is marked with - are refused.\n'
    const refused = await asked('n\n', 'applied', '--apply')
    expect(refused).toMatchObject(says(0, `${removed}Make this the scope of applied? [y/N] `))
    expect(refused.stderr).toContain('Nothing was changed.')
    expect((await stored('applied')).spec.scope).toEqual(real)
    expect(await advise('applied', '--apply', '--yes', '-o', 'json')).toMatchObject(says(0, removed))
    expect((await stored('applied')).spec.scope).toEqual(smaller)
    expect((await list(key, 'b')).status).toBe(403)
    expect(await cli.ok(['keys', 'show', 'applied'])).toMatch(/^Former scope +projects a, b, kept until /m)
    expect(await asked('y\n', 'applied', '--undo')).toMatchObject(
      says(
        0,
        /\n {2}\+ projects: \{project: b\}\nThe key had this scope until .*\. What is marked with \+ is allowed again\.\nPut it back\? \[y\/N\] /,
      ),
    )
    expect((await stored('applied')).spec.scope).toEqual(real)
    expect(await advise('applied', '--undo', '--yes')).toMatchObject(says(0, '  - projects: {project: b}\n'))
    expect((await stored('applied')).spec.scope).toEqual(smaller)
  })

  test('is not put back if there is none', async () => {
    await makeUsed('unchanged')
    expect(await advise('unchanged', '--undo', '--yes')).toMatchObject(
      says(1, 'unchanged has no former scope: its scope has not changed for 30 days.'),
    )
    expect(await advise('unchanged', '--drop-added', '--yes')).toMatchObject(
      says(1, 'unchanged has no scopes that were added.'),
    )
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

// threat: usage-7
test('what a scoped key has widened is shown before it is put back, and scopes that were added are dropped', async () => {
  const rules = [{ verbs: ['*'], resources: [{ group: 'management.platform', resources: ['ownedaccesskeys'] }] }]
  const key = await server.makeKey({ user: 'alice', scope: { rules, ...smaller } }, { name: 'widened' })
  const everything = { rules: [{}], projects: null }
  await server.patch(`${keys}/widened`, { spec: { scope: everything } }, key.token)
  await server.patch(`${keys}/widened`, { spec: { scope: { rules, ...smaller } } }, key.token)
  expect(await asked('n\n', 'widened', '--undo')).toMatchObject(
    says(0, /^May do then +everything its owner and groups may \(a rule without limits\)\n.* {2}\+ rules: \{\}\n/ms),
  )
  expect(await advise('widened', '--undo', '--yes')).toMatchObject(
    says(0, 'widened has its former scope again, but scopes that were added to it still limit it.'),
  )
  expect((await stored('widened')).status.addedScopes).toHaveLength(1)
  expect(await cli.ok(['keys', 'show', 'widened'])).toMatch(/^Also limited to +/m)
  expect(await advise('widened', '--drop-added', '--yes')).toMatchObject(
    says(0, /It is no longer limited to:\n {4}rules: .*widened is limited by its own scope/s),
  )
  expect((await stored('widened')).status.addedScopes).toBeUndefined()
})

test('a trust has a former scope, but no advice', async () => {
  await federation.trust('deploy', { scope: real })
  const run = (...args: string[]) => advise('deploy', '--trust', ...args)
  await server.patch(`${trusts}/deploy`, { spec: { scope: smaller } })
  expect(await run()).toMatchObject(
    says(0, '', expect.stringMatching(/^Its keys may do +project a\nFormer scope +projects a, b, kept until /m)),
  )
  expect(await run('--undo', '--yes')).toMatchObject(says(0, 'The trust had this scope until '))
  expect((await server.call(`${trusts}/deploy`)).json.spec.scope).toEqual(real)
})

test('docs/usage.md shows what its commands print', async () => {
  const page = await readFile(join(import.meta.dirname, '../../../docs/usage.md'), 'utf8')
  const shown = [...page.matchAll(/^```sh\nkeyplane (.*)\n```\n\n((?: {4}.*\n|\n(?= {4}))+)/gm)]
  expect(shown).toHaveLength(3)
  await publishEvents()
  await makeUsed('ci', { scope: { projects: [{ project: 'a' }, { project: 'old' }] } })
  const undated = (text: string) => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:]+Z/g, 'TIME')
  for (const [, call = '', output = ''] of shown) {
    const { stdout, stderr } = await cli.run(call.split(' '), { isTerminal: true, input: 'y\n' })
    const typed = output.replaceAll(/^ {4}/gm, '').replace('[y/N] y\n', '[y/N] ')
    expect(undated(stdout + stderr)).toBe(undated(typed))
  }
})
