/** The lock of the command line and of the Action: one holder at a time, wherever the steps of three processes come between each other. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { promises as fs } from 'node:fs'
import { readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { promises as timers } from 'node:timers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { holderName, withLock } from '../../../clients/core/src/files/lock.ts'
import { testFolder } from '../../support/folder.ts'
import { deadProcess, leaveLock } from '../../support/locks.ts'

/** One that takes the lock, as a process would. */
interface Actor {
  /** Is called before each of its steps. */
  step(): Promise<void>
  /** Is called when it waits for the lock. */
  wait(): void
}

const running = new AsyncLocalStorage<Actor>()
/** Every operation that another process may come before. */
const STEPS = ['lstat', 'readdir', 'mkdir', 'chmod', 'writeFile', 'rename', 'rm', 'unlink', 'rmdir'] as const
const real = { ...Object.fromEntries(STEPS.map((name) => [name, fs[name]])), setTimeout: timers.setTimeout }

const folder = testFolder()
beforeAll(async () => {
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

const ofDead = holderName(deadProcess())
/** Makes something old, in milliseconds. */
async function age(path: string, milliseconds: number): Promise<void> {
  const at = new Date(Date.now() - milliseconds)
  await utimes(path, at, at)
}
/** What is in the place of the lock. */
const left: Record<string, (lock: string) => Promise<unknown>> = {
  'the lock of a dead process': (lock) => leaveLock(lock, ofDead),
  'the file of a kubectl that was killed': async (lock) => {
    await writeFile(lock, '')
    await age(lock, 31_000)
  },
}

describe('a lock', () => {
  /** Plays three processes. The first stops before its step `at`, and again before the step `later`. Returns the most holders. */
  async function most(at: number, later: number, found: string): Promise<number> {
    const file = join(folder, `${at}-${later}.lock`)
    await left[found]?.(file)
    const released = Promise.withResolvers<void>()
    let holders = 0
    let top = 0
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
          top = Math.max(top, ++holders)
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
    return top
  }

  // threat: plugin-7
  test.each(Object.keys(left))('has one holder, wherever a process stops that finds %s', async (found) => {
    const steps = Array.from({ length: 12 }, (_, index) => index + 1)
    for (const at of steps)
      for (const later of steps.filter((one) => one > at))
        expect([at, later, await most(at, later, found)]).toEqual([at, later, 1])
    expect(await readdir(folder)).toEqual([])
  })
})

/** Takes the lock, with a clock that goes on by what is waited for. Returns how long it waited, in milliseconds. */
async function waitFor(lock: string): Promise<number> {
  let passed = 0
  const pause = async (milliseconds: number) => {
    passed += milliseconds
  }
  await withLock(lock, { elapsed: () => passed, pause }, async () => {})
  return passed
}

// threat: plugin-7
test.each<[string, Parameters<typeof holderName>, number]>([
  ['has an ID that no process has', [2 ** 22 + 1], 0],
  ['has an ID that a process has that started later', [process.pid, '1'], 0],
  ['has an ID that a process of another user has by now', [1, '1'], 0],
  ['took it more than 30 s ago', [process.pid], 31_000],
  ['took it on another machine more than 30 s ago', [1, '1', 'other'], 31_000],
  ['took it by a clock that was ahead', [process.pid], -3_600_000],
])('nobody waits for the lock of a process that %s', async (_, holder, milliseconds) => {
  const lock = join(folder, 'left.lock')
  await age(await leaveLock(lock, holderName(...holder)), milliseconds)
  expect(await waitFor(lock)).toBe(0)
  expect(await readdir(folder)).toEqual([])
})

test.each<[string, (lock: string) => Promise<unknown>]>([
  ['a process of this machine', (lock) => leaveLock(lock, holderName(process.pid))],
  ['a process of another machine', (lock) => leaveLock(lock, holderName(deadProcess(), '', 'other'))],
  ['kubectl', (lock) => writeFile(lock, '')],
])('the lock of %s is waited for 5 s, and stays', async (holder, hold) => {
  const lock = join(folder, `${holder}.lock`)
  await hold(lock)
  await expect(waitFor(lock)).rejects.toMatchObject({ message: `Another process uses ${lock}.`, isHeld: true })
  expect((await readdir(folder)).filter((name) => name.startsWith(holder))).toEqual([`${holder}.lock`])
})

test('a symbolic link in the place of a lock is not followed', async () => {
  const [lock, target] = [join(folder, 'link.lock'), join(folder, 'target')]
  const file = await leaveLock(target, ofDead)
  await symlink(target, lock)
  await expect(waitFor(lock)).rejects.toMatchObject({ isHeld: true })
  expect(await readFile(file, 'utf8')).toBe('')
})

test('a lock that the file system refuses is not waited for', async () => {
  await writeFile(join(folder, 'file'), '')
  await expect(waitFor(join(folder, 'file', 'lock'))).rejects.toMatchObject({
    isHeld: false,
    cause: { code: 'ENOTDIR' },
  })
})
