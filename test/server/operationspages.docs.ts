/** Runs the commands of docs/operating.md that list keys, and those of docs/leaks.md that end many, against the local server. */
import { execFile } from 'node:child_process'
import { delimiter } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { readPage } from '../support/commands.ts'
import { describeKubectl, kubeConfig, useKubectl } from '../support/kubectl.ts'
import { accessKey, keys } from '../support/objects.ts'

const { commandsOf } = await readPage('docs/operating.md')
const leaks = await readPage('docs/leaks.md')

describeKubectl('the page on operations, with kubectl,', () => {
  const at = useKubectl()
  let shell: (commands: string) => Promise<string>
  beforeAll(async () => {
    const { base, certificateAuthority, adminKey } = at.server
    const KUBECONFIG = await at.kubectl.file('operations', kubeConfig(base, certificateAuthority, adminKey))
    const { KUBEBUILDER_ASSETS, PATH } = process.env
    const env = {
      ...process.env,
      KUBECONFIG,
      AUTHORITY: certificateAuthority,
      PATH: [KUBEBUILDER_ASSETS, PATH].filter(Boolean).join(delimiter),
    }
    shell = async (commands) =>
      (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands], { env })).stdout
    await at.server.make(keys, accessKey('alice-1', { user: 'alice' }))
    await at.server.make(keys, accessKey('alice-2', { user: 'alice', ttl: 3600 }))
    await at.server.make(keys, accessKey('bob', { user: 'bob' }))
    await at.server.make(keys, accessKey('web-1', { team: 'web' }))
  })

  const listDisabled = async () => {
    const { json } = await at.server.call(keys)
    return json.items.flatMap(({ metadata, spec }: Listed) => (spec.disabled ? metadata.name : []))
  }
  interface Listed {
    metadata: { name: string }
    spec: { disabled?: boolean }
  }

  /** What a user puts into the commands: somebody else, and a time after the keys were made. */
  const given = (whose: string) => ({
    'users: [alice]': whose,
    '2026-11-22T09:00:00Z': new Date(Date.now() + 60_000).toISOString(),
  })

  test('disables all keys of a user and no others', async () => {
    const said = await shell(leaks.commandsOf('End many keys', 1, given('users: [alice]')))
    expect(said).toBe('2 of 2, failed: 0, remaining: false\n')
    expect(await listDisabled()).toEqual(['alice-1', 'alice-2'])
  })

  test('disables the keys of a team with the substitution that the page states', async () => {
    await shell(leaks.commandsOf('End many keys', 1, given('teams: [web]')))
    expect(await listDisabled()).toContain('web-1')
  })

  test('tries a revocation, then disables what it has shown', async () => {
    const { base, adminKey } = at.server
    await at.server.make(keys, accessKey('carol-1', { user: 'carol' }))
    const said = given('users: [carol]')
    const tried = await shell(leaks.commandsOf('End many keys', 0, said))
    expect(tried).toMatch(/keys:\n {2}- .*name: carol-1/s)
    expect(await listDisabled()).not.toContain('carol-1')
    expect(await shell(leaks.commandsOf('End many keys', 1, said))).toBe('1 of 1, failed: 0, remaining: false\n')
    expect(await listDisabled()).toContain('carol-1')
    const variables = `export CURL_CA_BUNDLE=$(mktemp); echo "$AUTHORITY" > "$CURL_CA_BUNDLE"; KEY=${adminKey}; BASE=${base}; `
    const answer = await shell(variables + leaks.commandsOf('End many keys', 2, { '"name": "ci"': '"uid": "none"' }))
    expect(JSON.parse(answer).status).toMatchObject({ matched: 0 })
  })

  interface Made {
    metadata: { creationTimestamp: string }
    status: { owner: string; expirationTimestamp?: string }
  }
  const madeAt = ({ metadata }: Made): number => Date.parse(metadata.creationTimestamp)

  test('lists keys with their owners in the order of their creation', async () => {
    const [header, ...rows] = (await shell(commandsOf('Pepper', 2))).trim().split('\n')
    expect(header?.split(/ +/)).toEqual(['NAME', 'MADE', 'OWNER', 'ENDS'])
    const { json } = await at.server.call(keys)
    // The sort is stable: keys of one second stay in the order of the list.
    const made: Made[] = json.items.sort((a: Made, b: Made) => madeAt(a) - madeAt(b))
    expect(made.map(({ status }) => status.owner)).toEqual(
      expect.arrayContaining(['admin', 'alice', 'bob', 'team:web']),
    )
    expect(rows.map((row) => row.split(/ +/).slice(2))).toEqual(
      made.map(({ status: { owner, expirationTimestamp = '<none>' } }) => [owner, expirationTimestamp]),
    )
  })
})
