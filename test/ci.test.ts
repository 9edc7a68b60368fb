/** Tests what .ci/run counts, and how it runs parts: with programs of a line in the place of suites. */

import { execFile, execFileSync } from 'node:child_process'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { runAgain } from '../.ci/again.ts'
import { followPace } from '../.ci/pace.ts'
import { judge, type Outcome, type Part, readMeasured, runPart } from '../.ci/part.ts'
import { partsOn } from '../.ci/parts.ts'
import { runSideBySide } from '../.ci/sidebyside.ts'
import { excesses, parseTimes, readTimes } from '../.ci/times.ts'
import { testFolder } from './support/folder.ts'

const folder = testFolder()

const unlimited = parseTimes('- - it')

describe('a part', () => {
  const run = (isSuite: boolean, script: string) =>
    runPart({ name: 'it', command: [process.execPath, '-e', script, '--'], isSuite }, folder, unlimited)
  /** A program that writes a report where it is told, as vitest does. */
  const reporting = (passed: unknown, failed: unknown) =>
    `require('node:fs').writeFileSync(process.argv.at(-1).split('=')[1], '${JSON.stringify({ numPassedTests: passed, numFailedTests: failed })}');`

  test.each([
    ['passes as one', false, '', 1, []],
    ['fails as one, with its exit code', false, 'process.exit(3)', 0, ['it ended with 3']],
    ['fails when a signal ends it', false, 'process.kill(process.pid, "SIGKILL")', 0, ['it ended with 137']],
    ['counts the tests of its report', true, reporting(5, 0), 5, []],
    ['fails without a failed test', true, `${reporting(5, 0)} process.exit(1)`, 5, ['it ended with 1']],
    ['fails without a report, though it ends with 0', true, '', 0, ['it has written no report']],
    ['fails with a report of another form', true, reporting('5', null), 0, ['it has written no report']],
    ['fails without tests', true, reporting(0, 0), 0, ['it has run no test']],
  ])('%s', async (_, isSuite, script, passed, problems) => {
    await rm(join(folder, 'it.json'), { force: true })
    const outcome = await run(isSuite, script)
    expect(outcome).toMatchObject({ passed, failed: problems.length, problems })
  })

  test('counts failed tests once, and not its exit code too', async () =>
    expect(await run(true, `${reporting(5, 2)} process.exit(1)`)).toMatchObject({ passed: 5, failed: 2, problems: [] }))

  test('names the tests that failed, with their files, lines and reasons', async () => {
    const file = join(process.cwd(), 'test/some.test.ts')
    const failureMessages = [`\u001b[31mError: two\u001b[39m keys\n    at support.ts:7:1\n    at ${file}:12:5`]
    const assertions = ['passed', 'failed'].map((status) => ({
      status,
      fullName: `a test that ${status}`,
      ...(status === 'failed' && { failureMessages }),
    }))
    const report = {
      numPassedTests: 1,
      numFailedTests: 1,
      testResults: [{ name: file, assertionResults: assertions }],
    }
    const script = `require('node:fs').writeFileSync(process.argv.at(-1).split('=')[1], ${JSON.stringify(JSON.stringify(report))})`
    expect(await run(true, script)).toMatchObject({
      failed: 1,
      failures: [{ file: 'test/some.test.ts', name: 'a test that failed', reason: 'Error: two keys (line 12)' }],
    })
  })

  test('has the output of both streams', async () =>
    expect((await run(false, 'console.log("one"); console.error("two")')).output).toBe('one\ntwo\n'))

  test('is measured with its descendants', async () => {
    const busy =
      'const used = () => { const { user, system } = process.cpuUsage(); return user + system }; while (used() < 3e5);'
    const { cpu } = await run(
      false,
      `require('node:child_process').spawnSync(process.execPath, ['-e', ${JSON.stringify(busy)}])`,
    )
    expect(cpu).toBeGreaterThan(0.3)
    expect((await readMeasured(join(folder, 'it.measured'))).cpu).toBe(cpu)
  })

  test('that is too slow is one failure beside its tests', () => {
    const took = { code: 0, seconds: 10, cpu: 41 }
    const suite = { name: 'it', command: [], isSuite: true }
    expect(judge(suite, took, { passed: 5, failed: 0, failures: [] }, parseTimes('10 20 it'))).toMatchObject({
      passed: 5,
      failed: 1,
    })
  })
})

test.each([
  [undefined, 2],
  [5, 1],
])('a part of niceness %s that takes too long of both has %d problems', (niceness, count) => {
  const part = { name: 'it', command: [], ...(niceness && { niceness }) }
  const { problems } = judge(part, { code: 0, seconds: 601, cpu: 201 }, undefined, parseTimes('100 100 it'))
  expect(problems).toHaveLength(count)
})

describe('failed tests', () => {
  const failures = [1, 2].map((test) => ({ file: 'test/a.test.ts', name: `test ${test}`, reason: '' }))
  const outcome = { name: 'it', passed: 5, failed: 2, failures, problems: [], output: '', seconds: 1, cpu: 1 }
  /** Runs them again, with these numbers of failed tests. */
  async function again(failed: number[], found: Partial<Outcome> = {}, part: Partial<Part> = {}) {
    const commands: (readonly string[])[] = []
    const ended = await runAgain(
      { name: 'it', command: ['run'], ...part },
      { ...outcome, ...found },
      async (repeated) => {
        commands.push(repeated.command)
        return { ...outcome, failed: failed.shift() ?? Number.NaN }
      },
    )
    return { ended, commands }
  }

  test('count as passed if their files pass alone, three times', async () => {
    const { ended, commands } = await again([0, 0, 0])
    expect(ended).toMatchObject({ passed: 7, failed: 0, failures: [], unsteady: failures })
    expect(commands).toEqual(Array.from({ length: 3 }, () => ['run', 'test/a.test.ts']))
  })

  test.each([1, 2, 3])('fail if run %d fails', async (run) => {
    const { ended, commands } = await again([...Array.from({ length: run - 1 }, () => 0), 1])
    expect([ended, commands.length]).toEqual([outcome, run])
  })

  test.each([
    ['of a part for races', {}, { isForRaces: true }],
    ['beside another problem', { failed: 3, problems: ['it ended with 3'] }, {}],
    ['where there is none', { failed: 0, failures: [] }, {}],
  ])('are not repeated %s', async (_, found, part) =>
    expect(await again([], found, part)).toEqual({ ended: { ...outcome, ...found }, commands: [] }),
  )
})

describe('the table of times', () => {
  const times = parseTimes('# a comment\n\n 10  20 npm test\n  -   - apt-get\n  -  20 npm ci\n')

  test.each([
    ['twice its CPU seconds', 'npm test', { seconds: 10, cpu: 40 }, []],
    ['more', 'npm test', { seconds: 10, cpu: 41 }, [expect.stringContaining('took 41 CPU seconds, more than 2 times')]],
    ['six times its seconds', 'npm test', { seconds: 60, cpu: 20 }, []],
    ['more', 'npm test', { seconds: 61, cpu: 20 }, [expect.stringContaining('took 61 seconds, more than 6 times')]],
    ['any time without figures', 'apt-get', { seconds: 999, cpu: 999 }, []],
    ['any seconds without a figure', 'npm ci', { seconds: 999, cpu: 40 }, []],
    ['no time without a line', 'lint', { seconds: 1, cpu: 1 }, ['.ci/times has no line for lint']],
  ])('allows a part, or not: %s (%s)', (_, name, took, found) => expect(excesses(name, took, times)).toEqual(found))

  test('allows a short part ten seconds more', () => {
    const short = parseTimes('1 1 lint')
    expect(excesses('lint', { seconds: 11, cpu: 11 }, short)).toEqual([])
    expect(excesses('lint', { seconds: 12, cpu: 12 }, short)).toHaveLength(2)
  })

  test('allows so many times more on a slow machine', () => {
    const took = { seconds: 90, cpu: 60 }
    expect(excesses('npm test', took, times, { seconds: 1.5, cpu: 1.5 })).toEqual([])
    expect(excesses('npm test', took, times, { seconds: 1.4, cpu: 1.4 })).toEqual([
      'npm test took 60 CPU seconds on a machine 1.4 times as slow, more than 2 times the 20 of .ci/times',
      'npm test took 90 seconds on a machine 1.4 times as slow, more than 6 times the 10 of .ci/times',
    ])
  })

  test('allows no more CPU seconds where cores are only shared, and no more seconds where only computing is slow', () => {
    const took = { seconds: 61, cpu: 41 }
    expect(excesses('npm test', took, times, { seconds: 9, cpu: 1 })).toEqual([
      expect.stringContaining('41 CPU seconds,'),
    ])
    expect(excesses('npm test', took, times, { seconds: 1, cpu: 9 })).toEqual([expect.stringContaining('61 seconds,')])
  })

  test.each(['10 npm test', '10 20', 'x 20 npm test'])('has no line %j', (line) => {
    expect(() => parseTimes(line)).toThrow('not SECONDS CPU NAME')
  })
})

describe('the pace of the machine', () => {
  /** Follows calculations that take this CPU time, where 100 is usual, and four times as long, until all are done. */
  async function follow(...given: number[]) {
    const { promise: done, resolve } = Promise.withResolvers<void>()
    const pace = followPace(
      async () => {
        if (given.length === 1) resolve()
        const cpu = given.shift() ?? Number.NaN
        return { cpu, seconds: 4 * cpu }
      },
      { cpu: 100, seconds: 200 },
      0,
    )
    await done
    await pace.stop()
    return pace
  }

  test('is the mean of the calculations', async () => {
    const before = Date.now() - 1
    expect((await follow(100, 400, 250)).slownessSince(before)).toEqual({ cpu: 2.5, seconds: 5 })
  })

  test('is never faster than that of the table', async () =>
    expect((await follow(30, 40)).slownessSince(Date.now() - 1000)).toEqual({ cpu: 1, seconds: 1 }))

  test('of a part that was shorter than the interval is that of the calculation before it', async () => {
    const pace = await follow(500, 300)
    expect(pace.slownessSince(Date.now() + 1)).toEqual({ cpu: 3, seconds: 6 })
  })

  test('comes from a real program, and its failure is an error', async () => {
    const pace = followPace(undefined, { cpu: 1e-6, seconds: 1e-6 }, 60_000)
    await pace.stop()
    const { cpu, seconds } = pace.slownessSince(0)
    expect(Math.min(cpu, seconds)).toBeGreaterThan(1)
    const failing = followPace(() => Promise.reject(new Error('out of memory')))
    await expect(failing.stop()).rejects.toThrow('out of memory')
  })
})

describe('the parts', () => {
  const folders = { clone: '/clone', copy: '/copy', usersCopy: '/work/user/copy', base: '/base', cache: '/cache' }
  const machine = { env: { PATH: '', ENVTEST_BUILD: '/build.sh' }, isRoot: true, ...folders }
  const named = (more: object) => partsOn({ ...machine, ...more }).map(({ name }) => name)

  test('are those of the table', () => {
    const known = new Set([...named({}), 'apt-get', 'npm ci', 'programs in Go'])
    expect([...readTimes().keys()].sort()).toEqual([...known].sort())
  })

  test('that look for races are not those that are repeated', () => {
    const names = partsOn(machine).flatMap(({ name, isForRaces }) => (isForRaces ? [name] : []))
    expect(names).toEqual(['npm run test:soak', 'npm run test:dynamodb'])
  })

  test('include the tests on a kube-apiserver where there is one or a way to build it', () => {
    const suite = 'npm run test:cluster'
    expect(named({})).toContain(suite)
    expect(named({ env: { PATH: '', KUBEBUILDER_ASSETS: '/assets' } })).toContain(suite)
    expect(named({ env: { PATH: '' } })).not.toContain(suite)
  })
})

describe('the user of npm test', () => {
  /** Makes a clone with little in it, and runs a part on it with another command. */
  async function onClone() {
    const [clone, usersCopy] = [join(folder, 'clone'), join(folder, "it's Zoë's — 日本 ü", 'copy')]
    const script = `
      git init --quiet "$0"
      cd "$0"
      mkdir -p node_modules/one node_modules/.vite .build .serverless clients/cli/dist
      touch node_modules/one/file .build/file clients/cli/build.ts
      git add clients
      git commit --quiet --message=a`
    // A user's configuration could ask for signatures.
    const who = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a' }
    const env = { ...process.env, ...who, GIT_CONFIG_GLOBAL: '/dev/null' }
    await promisify(execFile)('bash', ['-ec', `umask 022; ${script}`, clone], { env })
    const machine = {
      env: { PATH: '' },
      isRoot: process.getuid?.() === 0,
      clone,
      copy: join(folder, 'copy'),
      usersCopy,
    }
    const parts = partsOn({ ...machine, base: '', cache: join(folder, 'cache') })
    return {
      clone,
      usersCopy,
      async run(name: string, ...command: string[]) {
        const part = parts.find((one) => one.name === name) ?? { name, command: [] }
        const words =
          command.length === 0 ? part.command : [...part.command.slice(0, part.command.indexOf('npm')), ...command]
        const { output, problems } = await runPart(
          { directory: clone, ...part, isSuite: false, command: words },
          folder,
          unlimited,
        )
        expect(problems).toEqual([`.ci/times has no line for ${name}`])
        return output
      },
    }
  }

  test('has no rights, a home and a copy of its own, in a folder with a name that programs quote wrongly', async () => {
    const { clone, usersCopy, run } = await onClone()
    expect(await run('copy')).toBe('')
    const script =
      'id -u; umask; pwd; touch "$HOME/a" "$TMPDIR/a" .build/file node_modules/a; ls -A node_modules; id -G'
    const uid = process.getuid?.() || 65_534
    const groups = process.getuid?.() ? execFileSync('id', ['-G'], { encoding: 'utf8' }) : '65534\n'
    expect(await run('npm test', 'sh', '-c', script)).toBe(`${uid}\n0077\n${usersCopy}\na\none\n${groups}`)
    const [linked, own] = await Promise.all([clone, usersCopy].map((one) => stat(join(one, 'node_modules/one/file'))))
    expect([own?.ino, own?.uid]).toEqual([linked?.ino, process.getuid?.()])
  })
})

describe('side by side', () => {
  /** Runs steps `name load` and returns their begins and ends in order. A step ends after those that began with it. */
  async function play(cores: number, ...steps: [name: string, load: number, ...after: string[]][]): Promise<string[]> {
    const events: string[] = []
    const planned = steps.map(([name, load, ...after]) => ({ name, load, after }))
    await runSideBySide(
      planned,
      cores,
      ({ load }) => load,
      async ({ name }) => {
        events.push(`+${name}`)
        await new Promise(setImmediate)
        events.push(`-${name}`)
      },
    )
    return events
  }

  test('parts run together as far as cores allow, and no smaller one passes a larger one', async () =>
    expect(await play(2, ['a', 0.5], ['b', 1.5], ['c', 1], ['d', 0.5])).toEqual('+a +b -a -b +c +d -c -d'.split(' ')))

  test('a part passes one that waits for another', async () =>
    expect(await play(2, ['a', 1], ['b', 1, 'a'], ['c', 1])).toEqual(['+a', '+c', '-a', '+b', '-c', '-b']))

  test('a part larger than the machine runs alone', async () =>
    expect(await play(2, ['a', 1], ['b', 9], ['c', 1])).toEqual(['+a', '-a', '+b', '-b', '+c', '-c']))

  test('a part waits for those it follows, unless this machine does not have them', async () =>
    expect(await play(8, ['b', 1, 'a', 'none'], ['a', 1])).toEqual(['+a', '-a', '+b', '-b']))

  test('parts that wait for each other are an error', () =>
    expect(play(8, ['a', 1, 'b'], ['b', 1, 'a'])).rejects.toThrow('each waits for another: a, b'))
})
