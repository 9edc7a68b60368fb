/** The cache of credentials: which files it believes, by their content, owner, permissions and the clock, and what it does without a folder. */
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { readTrusted } from '../../../../clients/cli/src/credentials/cachefolder.ts'
import { forget } from '../../../../clients/cli/src/credentials/cleanup.ts'
import type { Credential } from '../../../../clients/cli/src/credentials/credential.ts'
import { cachedCredential } from '../../../../clients/cli/src/credentials/flight.ts'
import { CliError } from '../../../../clients/cli/src/io/errors.ts'
import { besideOf } from '../../../../clients/core/src/files/privatefiles.ts'
import { leaveLock } from '../../../support/locks.ts'
import { createFlights, type Flights } from './flights.ts'
import { testIo } from './testio.ts'
import cases from './vectors/cache.cases.json' with { type: 'json' }

const server = 'https://keys.example.com'
const start = Date.parse('2026-11-22T12:00:00Z')
const isRoot = process.getuid?.() === 0

let home: string
let folder: string
let requests: number
let notes: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'keyplane-cache-'))
  folder = join(home, '.cache', 'keyplane')
  requests = 0
  notes = ''
})
afterEach(async () => {
  vi.restoreAllMocks()
  await rm(home, { recursive: true, force: true })
})
/** Makes what this process has created belong to another user until the test ends. Only root can give files away. */
const becomeAnotherUser = () => vi.spyOn(process, 'geteuid').mockReturnValue(65_533)

interface Use {
  key?: string
  /** Seconds since the start. */
  at?: number
  /** The life of a new credential, in seconds. */
  life?: number
  error?: CliError | undefined
  parent?: string | undefined
  refresh?: boolean
  env?: NodeJS.ProcessEnv
}

/** Returns the token or certificate that a process gets, which names the request that it is from. */
async function use({
  key = 'key',
  at = 0,
  life = 900,
  error,
  parent,
  refresh,
  env = { HOME: home },
}: Use = {}): Promise<string> {
  const now = () => new Date(start + at * 1000)
  const { io, said } = testIo({ env, now })
  const issue = async (): Promise<{ credential: Credential; seconds: number }> => {
    requests++
    if (error) throw error
    const expirationTimestamp = new Date(start + (at + life) * 1000).toISOString()
    return { credential: { token: `token-${requests}`, expirationTimestamp }, seconds: 900 }
  }
  try {
    const credential = await cachedCredential(io, { owner: { server, key }, target: 'demo', issue, parent, refresh })
    return 'token' in credential ? credential.token : ''
  } finally {
    notes = said.err
  }
}
const unavailable = new CliError('Nothing listens there.\nMore.', { unavailable: true })
const refusal = new CliError('access key is disabled', { exitCode: 4 })

const entry = async () => join(folder, (await readdir(folder)).filter((name) => name.endsWith('.json'))[0] ?? '')

describe('a cached credential', () => {
  // threat: plugin-6
  test.each(cases.times as [number, string, string][])('at %i s %s', async (at, _, token) => {
    await use()
    expect([await use({ at }), notes]).toEqual([token, ''])
  })

  // threat: plugin-7
  test.each(cases.programs as [string, [string | null, number, number][]][])('%s', async (_, asks) => {
    const got: unknown[] = []
    for (const [parent, at] of asks)
      got.push([parent, at, Number((await use({ parent: parent ?? undefined, at })).slice('token-'.length))])
    expect(got).toEqual(asks)
  })

  test('is replaced at once with --refresh, and no longer used after a refusal', async () => {
    await use()
    expect([await use({ at: 1, refresh: true }), await use({ at: 2, refresh: true })]).toEqual(['token-2', 'token-3'])
    await expect(use({ at: 3, refresh: true, error: refusal })).rejects.toBe(refusal)
    await expect(use({ at: 4, error: refusal })).rejects.toBe(refusal)
  })

  test('is still used after a 401 if the server is away, which is asked once a minute', async () => {
    await use({ parent: 'a' })
    const asks = [10, 15, 25, 69, 71, 130]
    for (const at of asks) expect(await use({ parent: 'a', at, error: unavailable })).toBe('token-1')
    expect(requests).toBe(3)
  })

  test('is used after 80 % of its life if the server is not available, which is not asked again at once', async () => {
    const note =
      'keyplane uses the credential in its cache, which lives until 2026-11-22T12:15:00.000Z: Nothing listens there.\n'
    await use()
    for (const at of [730, 735]) {
      expect([await use({ at, error: unavailable }), notes, requests]).toEqual(['token-1', note, 2])
    }
    expect([await use({ at: 741 }), notes]).toEqual(['token-3', ''])
  })

  // threat: plugin-5
  test('is not used after its life although the server is not available', async () => {
    await use()
    await expect(use({ at: 896, error: unavailable })).rejects.toBe(unavailable)
  })

  // threat: plugin-5
  test('is removed when the server refuses to renew it', async () => {
    await use()
    await expect(use({ at: 730, error: refusal })).rejects.toBe(refusal)
    expect((await readdir(folder)).filter((name) => name.endsWith('.json'))).toEqual([])
    await expect(use({ at: 735, error: unavailable })).rejects.toBe(unavailable)
  })

  // threat: plugin-6
  test('lives no longer than was asked for, though the clock is behind that of the server', async () => {
    await use({ life: 4500 })
    expect(await use({ at: 719 })).toBe('token-1')
    expect(await use({ at: 720 })).toBe('token-2')
  })

  test('that has expired by the clock of this machine is used once, with a note, and not kept', async () => {
    expect(await use({ life: -60 })).toBe('token-1')
    expect(notes).toContain('check that clock')
    expect(await readdir(folder)).toEqual([])
  })

  // threat: plugin-2
  test('is of one server, key and target, whose names and texts are not in the file', async () => {
    expect(await use({ key: 'old-value' })).toBe('token-1')
    expect(await use({ key: 'new-value' })).toBe('token-2')
    expect(await use({ key: 'old-value' })).toBe('token-1')
    const names = await readdir(folder)
    const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
    expect([...names, ...texts].join()).not.toMatch(/(old|new)-value|example/)
  })
})

describe('a file of the cache is not believed', () => {
  const edits: [string, (value: Record<string, unknown>) => unknown][] = [
    ['is empty', () => ''],
    ['is cut off', (value) => JSON.stringify(value).slice(0, -20)],
    ['is another value', () => 'null'],
    ['has another form', (value) => JSON.stringify({ ...value, form: 2 })],
    ['has the name of another entry', (value) => JSON.stringify({ ...value, name: '0'.repeat(64) })],
    ['has no time', (value) => JSON.stringify({ ...value, received: undefined })],
    ['has a life without an end', (value) => JSON.stringify({ ...value, seconds: 1e300 })],
    ['has a token with a line break', (value) => JSON.stringify({ ...value, credential: { token: 'a\nb: c' } })],
    ['has a token that is no text', (value) => JSON.stringify({ ...value, credential: { token: ['a'] } })],
    ['has no credential', (value) => JSON.stringify({ ...value, credential: {} })],
    [
      'has a certificate without its key',
      (value) => JSON.stringify({ ...value, credential: { clientCertificateData: 'a' } }),
    ],
    ['is larger than any credential', (value) => JSON.stringify({ ...value, more: 'x'.repeat(300_000) })],
  ]
  // threat: plugin-2
  test.each(edits)('if it %s', async (_, edit) => {
    await use()
    await writeFile(await entry(), String(edit(JSON.parse(await readFile(await entry(), 'utf8')))))
    expect([await use(), await use(), notes]).toEqual(['token-2', 'token-2', ''])
  })

  // threat: plugin-1
  test('if others may read it', async () => {
    await use()
    await chmod(await entry(), 0o640)
    expect([await use(), await use()]).toEqual(['token-2', 'token-2'])
    expect((await stat(await entry())).mode & 0o777).toBe(0o600)
  })

  // threat: plugin-1
  test('if it is a symbolic link, whose target stays as it is', async () => {
    await use()
    const [file, elsewhere] = [await entry(), join(home, 'elsewhere')]
    await rename(file, elsewhere)
    await symlink(elsewhere, file)
    const before = await readFile(elsewhere, 'utf8')
    expect([await use(), await use()]).toEqual(['token-2', 'token-2'])
    expect(await readFile(elsewhere, 'utf8')).toBe(before)
  })

  test('if it is a folder, which stays', async () => {
    await use()
    const file = await entry()
    await rm(file)
    await mkdir(file)
    expect([await use(), notes]).toEqual(['token-2', expect.stringMatching(/^keyplane works without its cache, .+\n$/)])
  })

  // threat: plugin-1
  test('if it belongs to another user', async () => {
    await use()
    const [name = ''] = await readdir(folder)
    expect(readTrusted(folder, name)).toContain('token-1')
    becomeAnotherUser()
    expect(readTrusted(folder, name)).toBeUndefined()
  })
})

const noCache = expect.stringMatching(/^keyplane works without its cache, so it asks the server each time: [^\n]+\n$/)

describe('without a folder of its own, a process asks the server and says so', () => {
  test.each([
    ['the path leads through a file', '/dev/null/cache'],
    ['the folder cannot be made', '/proc/self'],
  ])('if %s', async (_, XDG_CACHE_HOME) => {
    expect([await use({ env: { XDG_CACHE_HOME } }), notes]).toEqual(['token-1', noCache])
  })

  test('if it is a symbolic link', async () => {
    await mkdir(join(home, 'elsewhere'), { mode: 0o700 })
    await mkdir(join(home, '.cache'))
    await symlink(join(home, 'elsewhere'), folder)
    expect([await use(), notes]).toEqual(['token-1', noCache])
    expect(await readdir(join(home, 'elsewhere'))).toEqual([])
  })

  test('if it belongs to another user', async () => {
    await use()
    becomeAnotherUser()
    expect([await use(), notes]).toEqual(['token-2', noCache])
  })
})

describe('in a process of its own', () => {
  let flights: Flights
  beforeEach(async () => {
    flights = await createFlights()
  })
  afterEach(() => flights.stop())
  const withNote = (stdout: string) => ({ code: 0, stdout, stderr: noCache })
  const quiet = (stdout: string) => ({ code: 0, stdout, stderr: '' })

  // threat: plugin-1
  test('only the owner may read the files and the folder, whatever the umask', async () => {
    for (const umask of ['0', '0277']) {
      await flights.run({ key: umask, through: ['sh', '-c', `umask ${umask}; exec "$@"`, 'sh'] })
      const names = await flights.files()
      const modes = await Promise.all(names.map((name) => stat(join(flights.folder, name))))
      expect(modes.map(({ mode }) => mode & 0o777)).toEqual(names.map(() => 0o600))
    }
    expect((await flights.files()).length).toBe(2)
    expect((await stat(flights.folder)).mode & 0o777).toBe(0o700)
  })

  test('a full disk leaves the credentials there usable', async () => {
    await flights.run()
    // No process may write to a file any more.
    const through = ['sh', '-c', 'ulimit -f 0; exec "$@"', 'sh']
    expect(await flights.run({ through })).toEqual(quiet('token-1'))
    expect(await flights.run({ through, ahead: 730 })).toEqual(withNote('token-2'))
    expect(await flights.run({ through, ahead: 900 })).toEqual(withNote('token-3'))
    expect(await flights.files()).toHaveLength(1)
  })

  // Root may write everywhere.
  test.skipIf(isRoot)('a folder that cannot be written leaves the credentials there usable', async () => {
    await flights.run()
    await chmod(flights.folder, 0o500)
    try {
      expect(await flights.run()).toEqual(quiet('token-1'))
      expect(await flights.run({ ahead: 730 })).toEqual(withNote('token-2'))
    } finally {
      await chmod(flights.folder, 0o700)
    }
  })
})

// threat: plugin-1
test('a folder that others may open is closed to them', async () => {
  await use()
  await chmod(folder, 0o755)
  expect(await use()).toBe('token-1')
  expect((await stat(folder)).mode & 0o777).toBe(0o700)
})

test('what expired an hour ago, and what killed processes left, is removed, but no other file', async () => {
  await use({ key: 'old', life: 60 })
  await use({ key: 'newer' })
  const hash = '0'.repeat(64)
  const left = [`${hash}.lock`, besideOf(`${hash}.lock`), besideOf(`${hash}.json`), `${hash}.json`]
  const others = ['notes.txt', `${hash}.txt`]
  const recent = `${'1'.repeat(64)}.lock`
  for (const name of [...left, ...others, recent]) {
    if (name.includes('lock')) await leaveLock(join(folder, name))
    else await writeFile(join(folder, name), '', { mode: 0o600 })
  }
  for (const name of [...left, ...others]) await utimes(join(folder, name), 0, 0)
  await utimes(join(folder, recent), start / 1000, start / 1000 + 3000)
  await use({ key: 'newest', at: 3700 })
  const names = await readdir(folder)
  expect(names).toEqual(expect.arrayContaining([...others, recent]))
  expect(names).toHaveLength(others.length + 3)
})

test('the credentials of one key can be removed', async () => {
  await use({ key: 'one' })
  const [one] = await readdir(folder)
  await use({ key: 'two' })
  forget(folder, { server, key: 'one' })
  const names = await readdir(folder)
  expect([names.length, names.includes(one ?? '')]).toEqual([1, false])
  forget(join(home, 'none'), { server, key: 'one' })
})
