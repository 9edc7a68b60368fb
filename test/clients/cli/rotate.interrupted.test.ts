/** Runs `keyplane rotate` up to each of its steps, and again. Anyone who reads the store must always get a value that works. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { runs, soak } from '../../support/effort.ts'
import { rotatingOn } from '../../support/rotation.ts'
import { useServer } from '../../support/sharedserver.ts'
import { useCommandLine } from './commandline.ts'
import { useFront } from './front.ts'
import { createScene, type Kill, type Scene, situations } from './rotatescene.ts'

const server = useServer()
// The clock of the functions moves; their requests to AWS follow the dates of its answers.
beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() }))
afterAll(() => void vi.useRealTimers())
const front = useFront(server)
const cli = useCommandLine()

const { values, use } = rotatingOn(() => server)
const WORKS = [201, undefined]

/** What the key, the store and the private file of the run have. */
interface State {
  values: string[] | undefined
  stored: 'old' | 'new'
  kept: 'nothing' | 'a value' | 'a pending value' | 'a stored value'
}
const NOTHING: State = { values: undefined, stored: 'old', kept: 'nothing' }
const PENDING: State = { values: ['Current', 'Pending'], stored: 'old', kept: 'a pending value' }
const STORED: State = { ...PENDING, stored: 'new', kept: 'a stored value' }

const at = (request: number, moment: 'before' | 'after'): Kill => ({ request, moment })
/** The requests are: who am I, the rotation, the use. */
const steps: readonly [Kill, State][] = [
  [at(1, 'before'), NOTHING],
  [at(1, 'after'), NOTHING],
  [at(2, 'before'), { ...NOTHING, kept: 'a value' }],
  [at(2, 'after'), { ...PENDING, kept: 'a value' }],
  [{ fails: 'before' }, PENDING],
  [{ fails: 'after' }, { ...STORED, kept: 'a pending value' }],
  [at(3, 'before'), STORED],
  [at(3, 'after'), { ...STORED, values: ['Current', 'Retiring'] }],
]

const statesOf = async ({ name }: Scene) => (await values(name))?.map(({ state }) => state)
const play = (situation: (typeof situations)[number]) => createScene({ server, front, cli }, situation)

/** Returns what the run on the first machine has kept. */
async function keptBy(scene: Scene): Promise<{ key: string; requestedAt?: string; stored?: boolean } | undefined> {
  const names = await readdir(scene.stateOf('one'))
  const [name] = names.filter((one) => one.endsWith('.json'))
  return name === undefined ? undefined : JSON.parse(await readFile(join(scene.stateOf('one'), name), 'utf8'))
}

describe.skipIf(soak).each(situations)('rotate by %s', (situation) => {
  // A person with a context needs no command, so nothing says that the value is stored.
  const hasCommand = situation !== 'a person with a context'

  // threat: rotation-3
  test.each(steps.filter(([kill]) => hasCommand || !('fails' in kill)))(
    'may end at %j, leaves a value that works, and is completed with the same value',
    async (kill, state) => {
      const scene = await play(situation)
      const old = await scene.read()
      await scene.run({ isProcess: false, kill })
      const kept = await keptBy(scene)
      const stored = await scene.read()
      const has = kept?.stored ? 'a stored value' : kept?.requestedAt ? 'a pending value' : kept ? 'a value' : 'nothing'
      expect({ values: await statesOf(scene), stored: stored === old ? 'old' : 'new', kept: has }).toEqual(
        hasCommand || state.kept !== 'a stored value' ? state : { ...state, kept: 'a pending value' },
      )
      expect([await scene.works(), stored === old || stored === kept?.key]).toEqual([true, true])

      const { code, stdout, stderr } = await scene.run({ isProcess: false })
      // A value that is stored and used is not stored once more.
      if (state.values?.includes('Retiring')) expect(stderr).toContain('is complete.')
      const value = await scene.read()
      expect([code, stdout, await statesOf(scene)]).toEqual([0, '', ['Current', 'Retiring']])
      expect([await use(value), await use(old), await keptBy(scene)]).toEqual([WORKS, WORKS, undefined])
      expect(value === (kept?.key ?? value) && value !== old).toBe(true)
    },
  )
})

describe('rotate', () => {
  const died: Kill = { fails: 'before' }
  const others = { isProcess: false, machine: 'two' }
  const replaced = [0, expect.stringContaining('was made over an hour ago')]

  test('by a job replaces the value of a run that died on another machine once it is an hour old', async () => {
    const scene = await play('a job that is given the stored value')
    await scene.run({ isProcess: false, kill: died })
    const early = await scene.run(others)
    expect([early.code, early.stderr]).toEqual([4, expect.stringContaining('repeat the command with --replace')])
    vi.setSystemTime(Date.now() + 3500_000)
    expect((await scene.run(others)).code).toBe(4)
    vi.setSystemTime(Date.now() + 120_000)
    const late = await scene.run(others)
    expect([late.code, late.stderr]).toEqual(replaced)
    expect([await scene.works(), await statesOf(scene)]).toEqual([true, ['Current', 'Retiring']])
  })

  test('by a job replaces such a value although the answer is lost', async () => {
    const scene = await play('a job that is given the stored value')
    await scene.run({ isProcess: false, kill: died })
    vi.setSystemTime(Date.now() + 3660_000)
    // Who am I, the rotation, the key, the age of its value, the replacement.
    const late = await scene.run({ ...others, lost: 5 })
    expect([late.code, late.stderr]).toEqual(replaced)
    expect([await scene.works(), await statesOf(scene)]).toEqual([true, ['Current', 'Retiring']])
  })

  test.each(situations.filter((one) => !one.includes('is given')))(
    'by %s replaces no value of another machine, which may have stored it elsewhere',
    async (situation) => {
      const scene = await play(situation)
      await scene.run({ isProcess: false, kill: { request: 2, moment: 'after' } })
      vi.setSystemTime(Date.now() + 4000_000)
      const { code } = await scene.run(others)
      expect([code, await scene.works(), await statesOf(scene)]).toEqual([4, true, ['Current', 'Pending']])
    },
  )

  const moment = fc.constantFrom('before' as const, 'after' as const)
  const kill = fc.oneof(
    { weight: 2, arbitrary: fc.record({ request: fc.integer({ min: 1, max: 5 }), moment }) },
    { weight: 1, arbitrary: fc.record({ fails: moment }) },
  )
  const step = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ kill: fc.option(kill, { nil: undefined }), machine: fc.constantFrom('one', 'two') }),
    },
    { weight: 1, arbitrary: fc.constant('use' as const) },
    { weight: 1, arbitrary: fc.constant('wait' as const) },
  )

  // threat: rotation-3
  test.each(situations)('by %s never leaves a store whose value is dead, however it is killed', async (situation) => {
    const overlaps = fc.constantFrom('0s', '1h')
    await fc.assert(
      fc.asyncProperty(overlaps, fc.array(step, { minLength: 2, maxLength: 6 }), async (overlap, steps) => {
        const scene = await play(situation)
        const args = ['--overlap', overlap]
        for (const one of steps) {
          if (one === 'wait') vi.setSystemTime(Date.now() + 4000_000)
          else if (one === 'use') await use(await scene.read())
          // A machine that is not that of the killed run knows nothing of its value, as a runner of a job.
          else
            await scene.run({
              isProcess: false,
              ...one,
              ...(situation !== 'a job that is given the stored value' && { machine: 'one' }),
              args,
            })
          expect(await scene.works()).toBe(true)
        }
        vi.setSystemTime(Date.now() + 4000_000)
        const before = await scene.read()
        const last = await scene.run({ isProcess: false, args })
        expect({ ...last, works: await scene.works() }).toMatchObject({ code: 0, works: true })
        if (!last.stderr.includes('Continuing')) expect(await scene.read()).not.toBe(before)
      }),
      runs(20),
    )
  })
})
