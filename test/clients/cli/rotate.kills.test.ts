/** Kills `keyplane rotate` between its steps, and runs it again. Whoever reads the store must always get a value that works. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { rotatingOn } from '../../support/rotation.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { type CommandLine, createCommandLine } from './commandline.ts'
import { type Front, startFront } from './front.ts'
import { commandKills, createScene, type Kill, type Scene, situations } from './rotatescene.ts'

let server: TestServer
let front: Front
let cli: CommandLine
beforeAll(async () => {
  server = await startServer({}, { streamSeconds: 3600, unthrottled: true })
  // The clock of the functions moves; their requests to AWS follow the dates of its answers.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now(), shouldAdvanceTime: true })
  front = await startFront(server)
  cli = await createCommandLine()
}, 120_000)
afterAll(async () => {
  await cli?.stop()
  await front?.stop()
  await server?.stop()
  vi.useRealTimers()
})

const { values, use } = rotatingOn(() => server)
const states = async ({ name }: Scene) => (await values(name)).map(({ state }) => state)
const left = ({ name }: Scene) => readdir(join(cli.home, `${name}.one/keyplane/rotations`))

describe.each(situations)('rotate by %s', (situation) => {
  /** Kills a run, and runs again. Returns whether the run was killed. */
  async function playTwice(kill: Kill): Promise<boolean> {
    const scene = await createScene({ server, front, cli }, situation)
    const old = await scene.read()
    const { isKilled } = await scene.run({ kill })
    expect({ kill, works: await scene.works() }).toEqual({ kill, works: true })
    const second = await scene.run()
    expect({ kill, ...second }).toEqual({ ...second, kill, code: isKilled ? 0 : 4 })
    expect({ kill, works: await scene.works(), states: await states(scene) }).toEqual({
      kill,
      works: true,
      states: ['Current', 'Retiring'],
    })
    expect(await scene.read()).not.toBe(old)
    expect({ kill, left: await left(scene) }).toEqual({ kill, left: [] })
    return isKilled
  }

  test.each(['before', 'after'] as const)(
    'may die %s each request reaches the server, and is completed',
    async (moment) => {
      let request = 1
      while (await playTwice({ request, moment })) request++
      // Who am I, the rotation, the use.
      expect(request).toBe(4)
    },
    60_000,
  )

  // A person with a context needs no command.
  test.each(situation === 'a person with a context' ? [] : commandKills)(
    'may be killed by its command ($command), and is completed',
    async (kill) => {
      expect(await playTwice(kill)).toBe(true)
    },
  )
})

describe('rotate', () => {
  const died = { kill: { command: 'begun' as const } }
  const others = { machine: 'two' }

  test('by a job replaces the value of a run that died on another machine once it is an hour old', async () => {
    const scene = await createScene({ server, front, cli }, 'a job that is given the stored value')
    expect((await scene.run(died)).isKilled).toBe(true)
    const early = await scene.run(others)
    expect([early.code, early.stderr]).toEqual([4, expect.stringContaining('repeat the command with --replace')])
    vi.setSystemTime(Date.now() + 3500_000)
    expect((await scene.run(others)).code).toBe(4)
    vi.setSystemTime(Date.now() + 120_000)
    const late = await scene.run(others)
    expect([late.code, late.stderr]).toEqual([0, expect.stringContaining('was made over an hour ago')])
    expect([await scene.works(), await states(scene)]).toEqual([true, ['Current', 'Retiring']])
  })

  test('by a job replaces such a value although the answer is lost', async () => {
    const scene = await createScene({ server, front, cli }, 'a job that is given the stored value')
    await scene.run(died)
    vi.setSystemTime(Date.now() + 3660_000)
    // Who am I, the rotation, the key, the age of its value, the replacement.
    const late = await scene.run({ ...others, lost: 5 })
    expect([late.code, late.stderr]).toEqual([0, expect.stringContaining('was made over an hour ago')])
    expect([await scene.works(), await states(scene)]).toEqual([true, ['Current', 'Retiring']])
  })

  test.each(situations.filter((one) => !one.includes('is given')))(
    'by %s replaces no value of another machine, which may have stored it elsewhere',
    async (situation) => {
      const scene = await createScene({ server, front, cli }, situation)
      const kill = { request: 2, moment: 'after' as const }
      expect((await scene.run({ kill })).isKilled).toBe(true)
      vi.setSystemTime(Date.now() + 4000_000)
      const { code } = await scene.run(others)
      expect([code, await scene.works(), await states(scene)]).toEqual([4, true, ['Current', 'Pending']])
    },
  )

  const kill = fc.oneof(
    fc.record({
      request: fc.integer({ min: 1, max: 5 }),
      moment: fc.constantFrom('before' as const, 'after' as const),
    }),
    fc.constantFrom(...commandKills),
  )
  const step = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ kill: fc.option(kill, { nil: undefined }), machine: fc.constantFrom('one', 'two') }),
    },
    { weight: 1, arbitrary: fc.constant('use' as const) },
    { weight: 1, arbitrary: fc.constant('wait' as const) },
  )
  const SEED = Number(process.env.SEED ?? 1)
  const RUNS = Number(process.env.RUNS ?? 3)

  test.each(situations)(
    'by %s never leaves a store whose value is dead, however it is killed',
    async (situation) => {
      const overlaps = fc.constantFrom('0s', '1h')
      await fc.assert(
        fc.asyncProperty(overlaps, fc.array(step, { minLength: 2, maxLength: 6 }), async (overlap, steps) => {
          const scene = await createScene({ server, front, cli }, situation)
          const args = ['--overlap', overlap]
          for (const one of steps) {
            if (one === 'wait') vi.setSystemTime(Date.now() + 4000_000)
            else if (one === 'use') await use(await scene.read())
            // A machine that is not that of the killed run knows nothing of its value, as a runner of a job.
            else
              await scene.run({
                ...one,
                ...(situation !== 'a job that is given the stored value' && { machine: 'one' }),
                args,
              })
            expect(await scene.works()).toBe(true)
          }
          vi.setSystemTime(Date.now() + 4000_000)
          const before = await scene.read()
          const last = await scene.run({ args })
          expect({ ...last, works: await scene.works() }).toMatchObject({ code: 0, works: true })
          if (!last.stderr.includes('Continuing')) expect(await scene.read()).not.toBe(before)
        }),
        { seed: SEED, numRuns: RUNS },
      )
    },
    120_000,
  )
})
