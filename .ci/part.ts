/** Runs one part: a command that passes or fails, or a suite of vitest whose report counts. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pace } from './pace.ts'
import { excesses, type Time, type Times } from './times.ts'

export interface Part {
  name: string
  command: readonly string[]
  /** Vitest counts, in a report that it writes. Other parts count as one. */
  isSuite?: boolean
  /** Names of parts that must have ended. */
  after?: readonly string[]
  /** Folder in which the command runs; by default that of this process. */
  directory?: string
}

export interface Outcome extends Time {
  name: string
  passed: number
  failed: number
  /** One sentence for each failure that is not a test's. */
  problems: string[]
  output: string
}

interface Counts {
  passed: number
  failed: number
}

/** Returns the seconds, the CPU seconds and the exit code that .ci/measure has written. */
export async function readMeasured(file: string): Promise<Time & { code: number }> {
  // The shell may have written before that a signal ended the command.
  const lines = (await readFile(file, 'utf8')).trim().split('\n').slice(-2)
  const [seconds, user, system, code] = lines.join(' ').split(' ').map(Number)
  if (seconds === undefined || user === undefined || system === undefined || code === undefined)
    throw new Error(`${file} is incomplete`)
  return { seconds, cpu: user + system, code }
}

/** Returns the counts of a report of vitest; undefined if there is none, as after a crash. */
async function readReport(file: string): Promise<Counts | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '')
  try {
    const { numPassedTests, numFailedTests } = JSON.parse(text) as Record<string, unknown>
    if (typeof numPassedTests !== 'number' || typeof numFailedTests !== 'number') return undefined
    return { passed: numPassedTests, failed: numFailedTests }
  } catch {
    return undefined
  }
}

/**
 * Judges a part that has ended. A suite that fails without a failed test (a file that does not load, an unhandled error), has no
 * report or no test is one failure, and so is each excess of its time.
 */
export function judge(
  { name, isSuite = false }: Part,
  { code, ...time }: Time & { code: number },
  counts: Counts | undefined,
  times: Times,
  slowness = 1,
): Omit<Outcome, 'output'> {
  const own = isSuite ? (counts ?? { passed: 0, failed: 0 }) : { passed: code === 0 ? 1 : 0, failed: 0 }
  const problems = excesses(name, time, times, slowness)
  if (isSuite && counts === undefined) problems.push(`${name} has written no report`)
  else if (isSuite && own.passed + own.failed === 0) problems.push(`${name} has run no test`)
  else if (code !== 0 && own.failed === 0) problems.push(`${name} ended with ${code}`)
  return { name, ...time, passed: own.passed, failed: own.failed + problems.length, problems }
}

/** Runs a part with its output in a file of the folder. */
export async function runPart(part: Part, folder: string, times: Times, pace?: Pace): Promise<Outcome> {
  const start = Date.now()
  const file = (extension: string) => join(folder, `${part.name.replaceAll(/\W+/g, '-')}.${extension}`)
  const [command = '', ...words] = part.command
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file('json')}`]
  const args = [file('measured'), command, ...words, ...(part.isSuite ? reporters : [])]
  const output = openSync(file('log'), 'w')
  const child = spawn(join(import.meta.dirname, 'measure'), args, {
    stdio: ['ignore', output, output],
    ...(part.directory !== undefined && { cwd: part.directory }),
  })
  await once(child, 'exit')
  closeSync(output)
  const measured = await readMeasured(file('measured'))
  const counts = part.isSuite ? await readReport(file('json')) : undefined
  return {
    ...judge(part, measured, counts, times, pace?.slownessSince(start)),
    output: await readFile(file('log'), 'utf8'),
  }
}
