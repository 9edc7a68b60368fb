/**
 * Kills processes of `keyplane rotate` between their steps, and runs it again. Anyone who reads the store must always get a value that
 * works. What a process leaves depends on whether a command stores the value: rotate.interrupted.test.ts plays all situations.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { rotatingOn } from '../../support/rotation.ts'
import { useServer } from '../../support/sharedserver.ts'
import { useCommandLine } from './commandline.ts'
import { useFront } from './front.ts'
import { commandKills, createScene, type Kill, type Scene } from './rotatescene.ts'

const situations = ['a job that is given the stored value', 'a person with a context'] as const

const server = useServer()
const front = useFront(server)
const cli = useCommandLine()

const { values } = rotatingOn(() => server)
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
    const stderr = isKilled
      ? /and works\. The old one works|is complete\. The old value ends/
      : /works until .*--finish/s
    expect({ kill, ...second }).toEqual({
      kill,
      code: isKilled ? 0 : 4,
      stdout: '',
      stderr: expect.stringMatching(stderr),
      isKilled: false,
    })
    expect({ kill, works: await scene.works(), states: await states(scene) }).toEqual({
      kill,
      works: true,
      states: ['Current', 'Retiring'],
    })
    expect(await scene.read()).not.toBe(old)
    expect({ kill, left: await left(scene) }).toEqual({ kill, left: [] })
    return isKilled
  }

  // threat: rotation-3
  test.each(['before', 'after'] as const)(
    'may die %s each request reaches the server, and is completed',
    async (moment) => {
      let request = 1
      while (await playTwice({ request, moment })) request++
      // Who am I, the rotation, the use.
      expect(request).toBe(4)
    },
  )

  // A person with a context needs no command.
  test.each(situation === 'a person with a context' ? [] : commandKills)(
    'may be killed by its command ($command), and is completed',
    async (kill) => expect(await playTwice(kill)).toBe(true),
  )
})
