/** The lock of the command line and of the Action: one holder at a time, wherever the steps of three processes come between each other. */

import { AsyncLocalStorage } from 'node:async_hooks'
import { spawnSync } from 'node:child_process'
import { promises as fs } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { promises as timers } from 'node:timers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withLock } from '../../../clients/core/src/lock.ts'
import { testFolder } from '../../support/folder.ts'

/** One that takes the lock, as a process would. */
interface Actor {
  /** Is called before each of its steps. */
  step(): Promise<void>
  /** Is called when it waits for the lock. */
  wait(): void
}

const running = new AsyncLocalStorage<Actor>()
/** Every operation that another process may come before. */
const STEPS = ['open', 'writeFile', 'readFile', 'stat', 'rename', 'link', 'rm', 'unlink'] as const
const real = { ...Object.fromEntries(STEPS.map((name) => [name, fs[name]])), setTimeout: timers.setTimeout }

const folder = testFolder()
let dead: number
beforeAll(async () => {
  dead = spawnSync('true').pid
  for (const name of STEPS) {
    const act = fs[name] as (...given: unknown[]) => Promise<unknown>
    const stepped = async (...given: unknown[]) => {
      await running.getStore()?.step()
      return act(...given)
    }
    Object.assign(fs, { [name]: stepped })
  }
  const turn = async () => {
    running.getStore()?.wait()
    await new Promise(setImmediate)
  }
  Object.assign(timers, { setTimeout: turn })
  syncBuiltinESMExports()
})
afterAll(async () => {
  const { setTimeout, ...steps } = real
  Object.assign(fs, steps)
  Object.assign(timers, { setTimeout })
  syncBuiltinESMExports()
})

const options = { elapsed: () => 0, pause: () => timers.setTimeout(0) }

describe('a lock', () => {
  /** Plays three processes after a dead one. The first stops before its step `at`, and again before the step `later`. Returns the most holders. */
  async function most(at: number, later: number, isGuarded: boolean): Promise<number> {
    const file = join(folder, `${at}-${later}-${isGuarded}.lock`)
    const text = JSON.stringify({ pid: dead, host: hostname() })
    await writeFile(file, text)
    if (isGuarded) await writeFile(`${file}.guard0`, text)
    const released = Promise.withResolvers<void>()
    let holders = 0
    let found = 0
    /** Starts a process. `still` resolves when it stops, holds the lock, or waits for it. */
    const begin = (stops: readonly number[]) => {
      const halts = stops.map(() => Promise.withResolvers<void>())
      let still = Promise.withResolvers<void>()
      let [steps, waits] = [0, 0]
      let holds = false
      const actor: Actor = {
        async step() {
          const halt = halts[stops.indexOf(++steps)]
          if (halt) still.resolve()
          await halt?.promise
        },
        wait: () => void (++waits > 3 && still.resolve()),
      }
      const ended = running.run(actor, () =>
        withLock(file, options, async () => {
          found = Math.max(found, ++holders)
          holds = true
          still.resolve()
          await released.promise
          holders--
        }),
      )
      const next = () => {
        const halt = halts.shift()
        still = Promise.withResolvers()
        waits = 0
        stops = stops.slice(1)
        halt?.resolve()
        // One that holds the lock stays as it is.
        if (holds) still.resolve()
        return Promise.race([still.promise, ended])
      }
      return { ended, next, still: Promise.race([still.promise, ended]) }
    }
    const first = begin([at, later])
    await first.still
    const second = begin([])
    await second.still
    await first.next()
    const third = begin([])
    await third.still
    await first.next()
    released.resolve()
    await Promise.all([first.ended, second.ended, third.ended])
    return found
  }

  test.each([false, true])(
    'has one holder, wherever a process stops that finds it (a guard is left: %s)',
    async (isGuarded) => {
      const steps = Array.from({ length: 12 }, (_, index) => index + 1)
      for (const at of steps)
        for (const later of steps.filter((one) => one > at))
          expect([at, later, await most(at, later, isGuarded)]).toEqual([at, later, 1])
      expect(await readdir(folder)).toEqual([])
    },
  )
})
