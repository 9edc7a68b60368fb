/** `keyplane rotate` against the whole API, with programs that store the value in a file. */
import { chmod, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { keys } from '../../support/objects.ts'
import { rotatingOn } from '../../support/rotation.ts'
import { useServer } from '../../support/sharedserver.ts'
import { type RunOptions, says, useCommandLine } from './commandline.ts'
import { givenClock } from './credentials/testio.ts'
import { useFront } from './front.ts'

const server = useServer()
const front = useFront(server)
const cli = useCommandLine(server)

const { rotate, use, values } = rotatingOn(() => server)
const WORKS = [201, undefined]
const states = async (name: string) => (await values(name))?.map(({ state }) => state)

let count = 0
async function createKey(more: object = {}): Promise<{ name: string; old: string }> {
  const name = `job-${++count}`
  const made = await server.make(keys, { metadata: { name }, spec: { displayName: 'Job', user: 'alice', ...more } })
  return { name, old: made.spec.key }
}
const selfRotate = { ttl: 86_400, scope: { roles: [{ role: 'selfRotate' }] } }

const stored = () => readFile(join(cli.home, 'stored'), 'utf8')
const STORE = ['--', 'sh', '-c', 'cat > stored']
const run = (args: readonly string[], options?: RunOptions) => cli.run(['rotate', ...args], options)
const as = (key: string): RunOptions => ({ env: { KEYPLANE_KEY: key } })

/** A clock that does not go on while a command stores a value. */
const storingClock = () => givenClock((milliseconds) => (milliseconds === 600_000 ? new Promise(() => {}) : undefined))

const rotations = () => join(cli.home, '.local/state/keyplane/rotations')
const left = async () => (await readdir(rotations()).catch(() => [])).filter((file) => file.endsWith('.json'))
afterEach(() => rm(rotations(), { recursive: true, force: true }))

test('rotate stores the new value, uses it, and forgets it', async () => {
  const { name, old } = await createKey()
  const ran = await run([name, ...STORE])
  expect(ran).toEqual({
    code: 0,
    stdout: '',
    stderr: `The new value of access key "${name}" is stored and works. The old one works for another 1h.\n`,
  })
  expect(await stored()).toMatch(/^mpk_\w{49}$/)
  expect(await states(name)).toEqual(['Current', 'Retiring'])
  expect([await use(old), await use(await stored()), await left()]).toEqual([WORKS, WORKS, []])
})

test('rotate puts the new value into a file that only its owner reads, and that nobody sees half written', async () => {
  const { name, old } = await createKey()
  const file = await cli.write('ci.key', old)
  await chmod(file, 0o644)
  expect(await run([name, '--key-file', 'ci.key'])).toMatchObject(says(0, 'is stored and works', ''))
  const value = await readFile(file, 'utf8')
  expect([await use(value), value === old, (await stat(file)).mode & 0o777]).toEqual([WORKS, false, 0o600])
  expect((await readdir(cli.home)).filter((one) => one.startsWith('ci.key'))).toEqual(['ci.key'])
  for (const wrong of [[...STORE], ['--finish'], ['--abort']])
    expect(await run([name, '--key-file', 'ci.key', ...wrong])).toMatchObject({ code: 2, stdout: '' })
  expect(await run([name, '--key-file', 'no/ci.key'])).toMatchObject(says(1, 'does not exist', ''))
  expect(await states(name)).toEqual(['Current', 'Retiring'])
})

describe('without a command, rotate', () => {
  test('prints the value of another key, which nobody has used', async () => {
    const { name } = await createKey()
    const { code, stdout, stderr } = await run([name])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^mpk_\w{49}$/)])
    expect(stderr).toContain('The old one works until the new one is used.')
    expect(await states(name)).toEqual(['Current', 'Pending'])
    expect([await use(stdout.trim()), await left()]).toEqual([WORKS, []])
  })

  test('prints an object with -o json', async () => {
    const { name } = await createKey()
    const { metadata, status } = JSON.parse(await cli.ok(['rotate', name, '-o', 'json']))
    expect([metadata, await use(status.key)]).toEqual([{ name }, WORKS])
  })

  test('keeps the value if nobody reads what it prints', async () => {
    const { name } = await createKey()
    const running = await cli.start(['rotate', name])
    running.child.stdout.destroy()
    expect((await running.ended).code).toBe(141)
    expect(await left()).toHaveLength(1)
    expect(await use((await cli.ok(['rotate', name])).trim())).toEqual(WORKS)
  })

  test('gives the new value to every context that has the old one', async () => {
    const { name, old } = await createKey()
    const certificateAuthorityData = Buffer.from(server.certificateAuthority).toString('base64')
    const mine = { server: server.base, certificateAuthorityData, key: old }
    const other = { ...mine, key: server.adminKey }
    const config = await cli.write(
      'contexts.json',
      JSON.stringify({ currentContext: 'a', contexts: { a: mine, b: mine, c: other } }),
    )
    const env = { KEYPLANE_URL: undefined, KEYPLANE_KEY: undefined, KEYPLANE_CONFIG: config }
    expect(await run([name], { env })).toMatchObject({ code: 0, stdout: '' })
    const { contexts } = JSON.parse(await readFile(config, 'utf8'))
    expect([contexts.b, contexts.c]).toEqual([contexts.a, other])
    expect(await use(contexts.a.key)).toEqual(WORKS)
    expect(await states(name)).toEqual(['Current', 'Retiring'])
  })
})

describe('the command of rotate', () => {
  /** Expects that the run failed and changed nothing for clients, and that the same call then completes it. */
  async function expectContinued(name: string, old: string, { code, stderr }: { code: number | null; stderr: string }) {
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('Repeat the command: it continues with the same new value.'),
    ])
    expect([await states(name), await use(old)]).toEqual([['Current', 'Pending'], WORKS])
    const again = await run([name, ...STORE])
    expect([again.code, await use(await stored())]).toEqual([0, WORKS])
  }

  // threat: rotation-4
  test('may fail', async () => {
    const { name, old } = await createKey()
    const ran = await run([name, '--', 'sh', '-c', 'cat > first; exit 3'])
    expect(ran.stderr).toContain('sh failed with exit code 3.')
    await expectContinued(name, old, ran)
    expect(await readFile(join(cli.home, 'first'), 'utf8')).toBe(await stored())
  })

  // threat: rotation-4
  test('may end without reading the value', async () => {
    const { name, old } = await createKey()
    const ran = await run([name, '--', 'true'])
    expect(ran.stderr).toContain('true has not read the new value from its standard input')
    await expectContinued(name, old, ran)
  })

  /** Runs a command that hangs, on a clock on which its timeout is over when it says that it is ready. */
  async function runHanging(name: string, script: string) {
    const over = Promise.withResolvers<void>()
    const clock = givenClock((milliseconds) => (milliseconds === 3000 ? over.promise : undefined))
    const running = cli.begin(['rotate', name, '--timeout', '3s', '--', 'sh', '-c', script], { clock })
    await running.until(/ready/)
    over.resolve()
    return running.ended
  }

  // threat: rotation-4
  test('may hang: it is stopped', async () => {
    const { name, old } = await createKey()
    const ran = await runHanging(name, 'echo $$ > hanging; echo ready; exec sleep 600')
    expect(ran.stderr).toContain('sh did not end within 3s and was stopped.')
    await expectContinued(name, old, ran)
    expect(await isAlive(await readFile(join(cli.home, 'hanging'), 'utf8'))).toBe(false)
  })

  test('is stopped although a program that it has left behind holds its output', async () => {
    const { name, old } = await createKey()
    const ran = await runHanging(name, 'cat >/dev/null; sleep 600 & echo $! > left; echo ready; wait')
    expect(ran.stderr).toContain('sh did not end within 3s and was stopped.')
    await endLeft()
    await expectContinued(name, old, ran)
  })

  test('may leave a program behind that holds its output: the run ends without it', async () => {
    const { name, old } = await createKey()
    const script = 'cat >/dev/null; sleep 600 & echo $! > left; exit 3'
    const ran = await cli.spawn(['rotate', name, '--', 'sh', '-c', script])
    expect(ran.stderr).toContain('sh failed with exit code 3.')
    await endLeft()
    await expectContinued(name, old, ran)
  })

  /** Ends the program that a command has left behind, and that must be alive. */
  async function endLeft(): Promise<void> {
    const left = await readFile(join(cli.home, 'left'), 'utf8')
    expect(await isAlive(left)).toBe(true)
    process.kill(Number(left))
  }

  // threat: rotation-4
  test('is ended when this program gets a signal', async () => {
    const { name, old } = await createKey()
    const running = await cli.start(['rotate', name, '--', 'sh', '-c', 'echo $$ > asked; echo ready; exec sleep 600'])
    await running.until(/ready/)
    running.kill('SIGTERM')
    const { code, stderr } = await running.ended
    const asked = await readFile(join(cli.home, 'asked'), 'utf8')
    // This program itself ends two seconds after the signal, whatever becomes of the command.
    await expect.poll(() => isAlive(asked)).toBe(false)
    expect(code).toBe(143)
    await expectContinued(name, old, { code: 1, stderr })
  })

  test('must exist before the key is rotated', async () => {
    const { name } = await createKey()
    for (const program of ['no-such-program', './stored', '/']) {
      expect(await run([name, '--', program])).toMatchObject(says(2, 'Nothing was changed.'))
    }
    expect(await states(name)).toBeUndefined()
  })

  test('may open /dev/stdin', async () => {
    const { name } = await createKey()
    expect((await run([name, '--', 'cp', '/dev/stdin', 'stored'])).code).toBe(0)
    expect(await use(await stored())).toEqual(WORKS)
  })

  // threat: rotation-6
  test('shows no value, and no process has it in its arguments or its environment', async () => {
    const { name } = await createKey()
    const spy =
      'cat > stored; for one in $$ $PPID; do cat /proc/$one/cmdline /proc/$one/environ; done > seen; ps axww -o args > listed; cat stored stored >&2; cat stored'
    const { code, stdout, stderr } = await cli.spawn(['rotate', name, '--', 'sh', '-c', spy])
    const value = await stored()
    expect([code, stdout, stderr]).toEqual([0, '', expect.stringContaining('<redacted>')])
    const seen = await Promise.all(['seen', 'listed'].map((file) => readFile(join(cli.home, file), 'utf8')))
    for (const text of [stderr, ...seen]) expect(text).not.toContain(value.slice(4, 40))
  })
})

// threat: rotation-7
test('the command of rotate has neither value in its environment and its output, in any form', async () => {
  const { name, old } = await createKey(selfRotate)
  await cli.write('old', old)
  const spy =
    'cat > stored; env > seen; cat old stored; base64 old; printf "%s" "x:$(cat old)" | base64; base64 stored >&2'
  const env = { KEYPLANE_KEY: old, HEADER: `Authorization: Bearer ${old}`, KEYPLANE_KEY_FILE: join(cli.home, 'old') }
  const { code, stderr } = await run([name, '--', 'sh', '-c', spy], { env })
  const seen = await readFile(join(cli.home, 'seen'), 'utf8')
  expect([code, seen.match(/^(KEYPLANE_\w+|HEADER)/gm)?.sort()]).toEqual([
    0,
    ['KEYPLANE_CA', 'KEYPLANE_KEY_FILE', 'KEYPLANE_URL'],
  ])
  for (const value of [old, await stored()]) {
    const encoded = ['', 'x:'].map((before) =>
      Buffer.from(before + value)
        .toString('base64')
        .slice(8, 60),
    )
    for (const form of [value, ...encoded]) for (const text of [stderr, seen]) expect(text).not.toContain(form)
  }
  expect(stderr.match(/<redacted>/g)).toHaveLength(5)
})

async function isAlive(pid: string): Promise<boolean> {
  try {
    process.kill(Number(pid), 0)
    return true
  } catch {
    return false
  }
}

describe('rotate', () => {
  test('repeats a request whose answer is lost, with the same value', async () => {
    const { name } = await createKey()
    let lost = 0
    front.act = (moment, { path }) => moment === 'after' && path.endsWith('/rotate') && lost++ < 2
    await cli.write('front.crt', front.certificateAuthority)
    const env = { KEYPLANE_URL: front.base, KEYPLANE_CA: 'front.crt' }
    const { code } = await run([name, ...STORE], { env, clock: storingClock() })
    expect([code, lost, await use(await stored()), await states(name)]).toEqual([0, 3, WORKS, ['Current', 'Retiring']])
  })

  test('says until when the old value works, during an overlap, and ends it with --finish', async () => {
    const { name, old } = await createKey()
    await run([name, ...STORE])
    expect(await run([name, ...STORE])).toMatchObject(
      says(4, /works until \S+Z.*, unless --finish ends it\n.*keyplane rotate \S+ --finish/),
    )
    const finished = await run([name, '--finish'])
    expect([finished.code, finished.stderr]).toEqual([0, `The old value of access key "${name}" has ended.\n`])
    expect([(await use(old))[0], await use(await stored())]).toEqual([401, WORKS])
    expect((await run([name, '--finish'])).stderr).toBe(`Access key "${name}" has no old value.\n`)
  })

  // threat: rotation-5
  test('does not end the old value with --finish while the new one is unused, but the new one with --abort', async () => {
    const { name, old } = await createKey()
    const value = (await cli.ok(['rotate', name])).trim()
    expect(await run([name, '--finish'])).toMatchObject(says(1, 'was never used, so the old one must not end yet'))
    expect((await run([name, '--abort'])).code).toBe(0)
    expect([await use(old), (await use(value))[0]]).toEqual([WORKS, 401])
  })

  test.each(['--finish', '--abort'])('is done with %s although the answer was lost', async (option) => {
    const { name, old } = await createKey()
    if (option === '--finish') await run([name, ...STORE])
    else await rotate(name)
    let lost = 0
    front.act = (moment, { path }) => moment === 'after' && path.endsWith('/rotate') && lost++ < 1
    await cli.write('front.crt', front.certificateAuthority)
    const env = { KEYPLANE_URL: front.base, KEYPLANE_CA: 'front.crt' }
    const { code, stderr } = await run([name, option], { env, clock: givenClock() })
    expect([code, stderr]).toEqual([0, expect.stringContaining('has ended.')])
    expect((await use(old))[0]).toBe(option === '--finish' ? 401 : WORKS[0])
  })

  // threat: rotation-5
  test('leaves the value of another run alone, unless --replace is given', async () => {
    const { name, old } = await createKey()
    await rotate(name)
    const refused = await run([name, ...STORE])
    expect([refused.code, refused.stderr]).toEqual([
      4,
      expect.stringMatching(/a value has been pending since[\s\S]*--replace/),
    ])
    expect([await left(), await use(old)]).toEqual([[], WORKS])
    expect((await run([name, '--replace', ...STORE])).code).toBe(0)
    expect(await use(await stored())).toEqual(WORKS)
  })

  test('begins again when another rotation has ended the value of a killed run', async () => {
    const { name } = await createKey()
    await run([name, '--', 'false'])
    await rotate(name, { replace: true })
    expect((await run([name, ...STORE])).code).toBe(4)
    await run([name, '--abort'])
    await run([name, '--', 'false'])
    await rotate(name, { finish: true })
    expect((await run([name, ...STORE])).code).toBe(0)
    expect(await use(await stored())).toEqual(WORKS)
  })

  // threat: rotation-5
  test('does not store the value of a killed run once more after a later rotation', async () => {
    const { name } = await createKey()
    const ran = await run([name, '--overlap', '0s', '--', 'sh', '-c', 'cat > stored; exit 1'])
    expect([ran.code, await use(await stored())]).toEqual([1, WORKS])
    const { json } = await rotate(name, { overlapSeconds: 3600 })
    await use(json.status.key)
    await cli.write('stored', json.status.key)
    expect((await run([name, ...STORE])).code).toBe(4)
    expect([await stored(), await left()]).toEqual([json.status.key, []])
  })

  test('runs once at a time on a machine', async () => {
    const { name } = await createKey()
    const first = cli.begin([
      'rotate',
      name,
      '--',
      'sh',
      '-c',
      'echo ready; cat > stored; until [ -e go ]; do sleep 0.05; done',
    ])
    await first.until(/ready/)
    const second = await run([name, ...STORE], { clock: storingClock() })
    expect([second.code, second.stderr]).toEqual([1, expect.stringContaining('Another process uses')])
    await cli.write('go', '')
    expect((await first.ended).code).toBe(0)
    expect(await states(name)).toEqual(['Current', 'Retiring'])
  })

  test('lets one of two machines rotate', async () => {
    const { name } = await createKey()
    const ran = await Promise.all(
      ['one', 'two'].map((machine) =>
        run([name, '--', 'sh', '-c', `cat > of-${machine}; cp of-${machine} stored`], {
          env: { XDG_STATE_HOME: join(cli.home, machine) },
        }),
      ),
    )
    expect(ran.map(({ code }) => code).sort()).toEqual([0, 4])
    expect(await use(await stored())).toEqual(WORKS)
  })

  test('stores the value of a disabled key, and says that it works once the key is enabled', async () => {
    const { name } = await createKey({ disabled: true })
    expect(await run([name, ...STORE])).toMatchObject(
      says(0, `It works once the key is enabled: keyplane keys enable ${name}`),
    )
    await server.call(`${keys}/${name}`, {
      method: 'PATCH',
      body: { spec: { disabled: false } },
      headers: { 'content-type': 'application/merge-patch+json' },
    })
    expect(await use(await stored())).toEqual(WORKS)
  })

  test('says of a leaked key that no value works, and of a disabled one', async () => {
    const [leaked, disabled] = [await createKey(), await createKey({ disabled: true })]
    await server.call('/leaks', { method: 'POST', body: { credentials: [leaked.old] } })
    for (const [{ name }, old] of [
      [leaked, 'The old one has ended. '],
      [disabled, ''],
    ] as const) {
      const until = `No value works until the key is enabled: keyplane keys enable ${name}\n`
      expect(await run([name])).toMatchObject(says(0, `This is the new value of access key "${name}". ${old}${until}`))
      expect(await run([name])).toMatchObject(says(4, '\nNothing was changed. Another run made that value'))
    }
    expect((await run([leaked.name, '--abort'])).stderr).toMatch(
      /has ended\. The key has no value now\. To give it one: keyplane rotate/,
    )
    expect((await run([disabled.name, '--abort'])).stderr).toMatch(/has ended\. The current one stays\.$/m)
  })

  test('stores the value of a key that this machine may not use', async () => {
    const { name } = await createKey({ sourceCIDRs: ['192.0.2.0/24'] })
    expect(await run([name, ...STORE])).toMatchObject(says(0, 'the first client that uses it makes it current'))
    expect(await states(name)).toEqual(['Current', 'Pending'])
  })

  test('explains what a key that rotates itself may not do', async () => {
    const { name, old } = await createKey(selfRotate)
    const short = await run([name, '--overlap', '10m', ...STORE], as(old))
    expect([short.code, short.stderr]).toEqual([4, expect.stringContaining('--overlap 1h')])
    await rotate(name)
    const early = await run([name, '--replace', ...STORE], as(old))
    expect([early.code, early.stderr]).toEqual([
      4,
      expect.stringMatching(/may be replaced from[\s\S]*Repeat the command after that time/),
    ])
    expect(await use(old)).toEqual(WORKS)
  })

  test('explains that a value was rotated out', async () => {
    const { name, old } = await createKey()
    await run([name, ...STORE])
    for (const args of [STORE, ['--finish']])
      expect(await run([name, ...args], as(old))).toMatchObject(says(4, 'Your own access key is the old value'))
  })

  test('refuses what makes no sense', async () => {
    for (const args of [
      ['x', '--finish', '--abort'],
      ['x', '--finish', ...STORE],
      ['x', '--finish', '-o', 'json'],
      ['x', '--abort', '--timeout', '5m'],
      ['x', '--overlap', '31d'],
      ['x', '--timeout', '1h'],
      ['x', '--'],
      ['', ...STORE],
      [],
    ])
      expect({ args, code: (await run(args)).code, left: await left() }).toEqual({ args, code: 2, left: [] })
    expect((await run(['x', '--overlap', '31d'])).stderr).toContain('--overlap may be at most 30d')
    expect((await run(['no-such-key'])).code).toBe(4)
  })
})
