/** Tries the commands of docs/leaks.md and the rules of examples/leaks: what scanners find with them, and what they report. */

import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { load } from 'js-yaml'
import { beforeAll, describe, expect, test } from 'vitest'
import { generateAccessKey, isWellFormed } from '../../lib/keys/credential/accesskey.ts'
import { installCommandLine } from '../clients/cli/commandline.ts'
import { readPage } from '../support/commands.ts'
import { readExample } from '../support/examples.ts'
import { testFolder } from '../support/folder.ts'
import { describeKubectl, kubeConfig } from '../support/kubectl.ts'
import { accessKey, keys, management } from '../support/objects.ts'
import { runProgram } from '../support/programs.ts'
import { useServer } from '../support/sharedserver.ts'

const text = await readFile(new URL('../../docs/leaks.md', import.meta.url), 'utf8')
const { commandsOf } = await readPage('docs/leaks.md')

interface Workflow {
  jobs: { report: { steps: { env?: Record<string, string>; run?: string }[] } }
}

interface GitleaksRule {
  id: string
  regex: string
  secretGroup: number
  keywords: string[]
}

/** Reads the part of TOML that the rule uses: tables, lists of tables, strings, numbers, booleans and lists of strings. */
function parseToml(document: string): Record<string, unknown> {
  const root: Record<string, unknown> = {}
  let table = root
  for (const line of document.split('\n').filter((one) => one.trim() !== '')) {
    const [, list] = /^\[\[(\w+)\]\]$/.exec(line) ?? []
    const [, single] = /^\[(\w+)\]$/.exec(line) ?? []
    const [, name, value = ''] = /^(\w+) = (.+)$/.exec(line) ?? []
    if (list !== undefined || single !== undefined) {
      table = {}
      root[list ?? single ?? ''] = list === undefined ? table : [...((root[list] as unknown[]) ?? []), table]
    } else if (name !== undefined) {
      const literal = /^'''(.*)'''$/.exec(value)?.[1]
      table[name] = literal ?? JSON.parse(value)
    } else throw new Error(`not understood here: ${line}`)
  }
  return root
}

const [gitleaks, ...otherRules] = parseToml(await readExample('leaks/gitleaks.toml')).rules as GitleaksRule[]
const detectors = await readExample('leaks/trufflehog.yaml')
const workflow = await readExample('leaks/github-alerts.yaml')
const [trufflehog, ...otherDetectors] = (
  load(detectors) as {
    detectors: {
      name: string
      keywords: string[]
      regex: Record<string, string>
      verify: { endpoint: string; headers: string[]; successRanges: string[] }[]
    }[]
  }
).detectors

/** A field of the custom pattern for GitHub. Hyperscan writes `^` and `$` of JavaScript as `\A` and `\z`. */
const fieldOf = (name: string) =>
  (new RegExp(`^- ${name}: \`(.*?)\``, 'm').exec(text)?.[1] ?? '').replace('\\A', '^').replace('\\z', '$')

/** Hyperscan reports matches that overlap, so what is around a secret consumes nothing. */
const customPattern = `(?<=${fieldOf('Before secret')})(${fieldOf('Secret format')})(?=${fieldOf('After secret')})`

const scanners: [string, string[], string, number][] = [
  ['GitHub', [''], customPattern, 1],
  ['gitleaks', gitleaks?.keywords ?? [], gitleaks?.regex ?? '', gitleaks?.secretGroup ?? 0],
  ['trufflehog', trufflehog?.keywords ?? [], trufflehog?.regex.key ?? '', 1],
]

const newKey = () => generateAccessKey(randomBytes)

/** Returns texts with the key: also after a line break in JSON, an encoded URL, a colour of a terminal, and a name. */
const placesOf = (key: string): string[] => [
  ...[key, `KEY=${key}`, `"${key}"`, `Bearer ${key}\r\n`, `https://a/?k=${key}&b`, `<${key}>`],
  ...[JSON.stringify(`a\n${key}\nb`), `k%3D${key}%26b`, `\u001b[32m${key}\u001b[0m`, `key_${key}_end`],
]

describe.each(scanners)('the rule for %s', (_, keywords, pattern, group) => {
  /** Scanners look for a keyword first, whatever its case, and report the group. */
  const find = (content: string) =>
    keywords.some((one) => content.toLowerCase().includes(one))
      ? [...content.matchAll(new RegExp(pattern, 'g'))].map((match) => match[group])
      : []

  test('finds every key, wherever it is', () => {
    for (const key of Array.from({ length: 500 }, newKey)) {
      expect(isWellFormed(key)).toBe(true)
      for (const content of placesOf(key)) expect([content, find(content)]).toEqual([content, [key]])
    }
    expect(find(`${newKey()} ${newKey()}_${newKey()}`)).toHaveLength(3)
  })

  test('finds no text of another length, and texts with a wrong checksum cost no lookup', () => {
    const key = newKey()
    for (const other of [key.slice(0, -1), `${key}x`, key.replace('mpk_', 'mpk-'), key.replace('_', '')])
      expect(find(other)).toEqual([])
    const wrong = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`
    expect([find(wrong), isWellFormed(wrong)]).toEqual([[wrong], false])
  })
})

test('the page has one rule for each scanner, and the test vectors of the format match it', async () => {
  expect([otherRules, otherDetectors]).toEqual([[], []])
  const format = await readFile(new URL('../../docs/access-keys.md', import.meta.url), 'utf8')
  const inline = [...`${text}${format}`.matchAll(/`([^`\n]*mpk_\[[^`\n]*)`/g)].map(([, pattern = '']) => pattern)
  expect(inline).toHaveLength(2)
  for (const pattern of inline) for (const place of placesOf(newKey())) expect(place).toMatch(new RegExp(pattern))
  const vectors = [...format.matchAll(/`(mpk_\w{49})`/g)].map(([, key]) => key)
  expect(vectors).toHaveLength(3)
  for (const [, , pattern] of scanners) for (const key of vectors) expect(key).toMatch(new RegExp(`^${pattern}$`))
})

describe('what a scanner finds', () => {
  const server = useServer()
  const folder = testFolder()
  beforeAll(async () => {
    await writeFile(join(folder, 'ca.crt'), server.certificateAuthority)
    await installCommandLine(folder)
  })

  let count = 0
  async function makeKey(): Promise<string> {
    count += 1
    return (await server.make(keys, accessKey(`found-${count}`, { user: 'alice' }))).spec.key
  }
  const statusOf = async (token: string) => (await server.post(`${management}/selves`, {}, token)).status

  const environment = () => ({
    ...process.env,
    HOME: folder,
    PATH: [folder, join(folder, 'node_modules/.bin'), process.env.PATH].join(delimiter),
    KEYPLANE: server.base,
    CURL_CA_BUNDLE: join(folder, 'ca.crt'),
    KEYPLANE_CA: join(folder, 'ca.crt'),
  })

  const shell = async (commands: string, more: Record<string, string> = {}) => {
    const env = { ...environment(), ...more }
    return (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands], { env, cwd: folder })).stdout
  }

  test('is ended by the command that finds the keys of a log', async () => {
    const found = [await makeKey(), await makeKey()]
    await writeFile(join(folder, 'build.log'), found.map((key) => `12:00 key=${key}, done\n`).join(''))
    const printed = await shell(commandsOf('The day of a leak', 0))
    for (const key of found) {
      expect(await statusOf(key)).toBe(401)
      expect(printed).not.toContain(key)
    }
  })

  test('is ended by the command for one key, which gets another value by the commands after it', async () => {
    const key = await makeKey()
    await writeFile(join(folder, 'leaked-key'), `${key}\n`)
    expect(await shell(commandsOf('When a key leaks', 0))).toBe('202\n')
    expect(await statusOf(key)).toBe(401)
    const rotation = commandsOf('When a key leaks', 1, { NAME: `found-${count}` })
    const { status } = JSON.parse(await shell(rotation, { KEY: server.adminKey }))
    expect(await statusOf(status.key)).toBe(401)
    const [, patch = ''] = /-p '(.*)'$/m.exec(commandsOf('When a key leaks', 2)) ?? []
    const enabled = await server.patch(`${keys}/found-${count}`, patch)
    expect([enabled.status, enabled.headers.warning]).toEqual([200, undefined])
    expect([await statusOf(status.key), await statusOf(key)]).toEqual([201, 401])
  })

  test('is found by the command that asks whose it is, which ends nothing', async () => {
    const key = await makeKey()
    await writeFile(join(folder, 'leaked-key'), `${key}\n`)
    const caller = { KEYPLANE_URL: server.base, KEYPLANE_KEY: server.adminKey }
    expect(await shell(commandsOf('Whose key is this?', 0), caller)).toMatch(
      new RegExp(`^Key +found-${count}\nOwner +alice\n`),
    )
    expect(await statusOf(key)).toBe(201)
  })

  describeKubectl('with kubectl', () => {
    test('is found by its command', async () => {
      await writeFile(join(folder, 'leaked-key'), `${await makeKey()}\n`)
      const config = kubeConfig(server.base, server.certificateAuthority, server.adminKey)
      await writeFile(join(folder, 'kubeconfig'), JSON.stringify(config))
      const printed = await shell(commandsOf('Whose key is this?', 1), { KUBECONFIG: join(folder, 'kubeconfig') })
      expect(JSON.parse(printed)).toMatchObject({ name: `found-${count}`, owner: 'alice', phase: 'Active' })
    })
  })

  test('is ended by the commands for gitleaks', async () => {
    const found = [await makeKey(), await makeKey()]
    const [first = ''] = found
    const findings = [...found, first, `${first.slice(0, -6)}000000`].map((Secret) => ({
      Secret,
      RuleID: gitleaks?.id,
    }))
    await writeFile(join(folder, 'gitleaks'), `#!/bin/sh\nprintf %s '${JSON.stringify(findings)}' > findings.json\n`)
    await chmod(join(folder, 'gitleaks'), 0o755)
    expect(await shell(commandsOf('Find leaks', 0))).toBe('')
    for (const key of found) expect(await statusOf(key)).toBe(401)
    await expect(readFile(join(folder, 'findings.json'))).rejects.toThrow('ENOENT')
  })

  test('is ended by the verification of trufflehog', async () => {
    const { name = '', verify = [] } = trufflehog ?? {}
    const [{ endpoint = '', headers = [], successRanges = [] } = {}, ...others] = verify
    expect(others).toEqual([])
    expect(new URL(endpoint).pathname).toBe('/kubernetes/management/leaks')
    const key = await makeKey()
    const { status } = await server.call('/leaks', {
      method: 'POST',
      token: '',
      headers: Object.fromEntries(headers.map((header) => header.split(': '))),
      body: JSON.stringify({ [name]: { key: [key, key] } }),
    })
    expect(successRanges).toEqual([String(status)])
    expect(await statusOf(key)).toBe(401)
  })

  test('is ended by the workflow that reads the alerts of GitHub, which shows no value', async () => {
    const { env: given = {}, run = '' } = (load(workflow) as Workflow).jobs.report.steps.at(-1) ?? {}
    const asked = 'api --paginate /orgs/octo-org/secret-scanning/alerts?state=open&per_page=100 --jq'
    await writeFile(join(folder, 'gh'), `#!/bin/sh\n[ "$1 $2 $3 $4" = '${asked}' ] && jq -r "$5" alerts.json\n`)
    await chmod(join(folder, 'gh'), 0o755)
    const report = async (secrets: readonly string[]) => {
      await writeFile(join(folder, 'alerts.json'), JSON.stringify(secrets.map((secret) => ({ secret }))))
      const env = { ...environment(), ALERTS: given.ALERTS, GH_TOKEN: 'token' }
      return runProgram('bash', ['-e', '-c', run], { env, cwd: folder })
    }
    const found = [await makeKey(), await makeKey()]
    const { code, stdout, stderr } = await report([...found, 'secret-of-another-service'])
    expect([code, stdout, stderr]).toEqual([0, '', expect.stringContaining('2 access keys in standard input')])
    for (const key of found) {
      expect(await statusOf(key)).toBe(401)
      expect(stderr).not.toContain(key)
    }
    const { status } = (await server.call(`${keys}/found-${count}`)).json
    expect(status.leak.url).toBe(given.ALERTS)
    expect(await report(['secret-of-another-service'])).toEqual({ code: 0, stdout: '', stderr: '' })
  })
})
