/** Runs one part: a command that passes or fails, or a suite of vitest whose report counts. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { Pace } from './pace.ts'
import { AS_USUAL, excesses, type Time, type Times } from './times.ts'

export interface Part {
  name: string
  command: readonly string[]
  /** Vitest counts, in a report that it writes. Other parts count as one. */
  isSuite?: boolean
  /** Names of parts that must have ended. */
  after?: readonly string[]
  /** Folder in which the command runs; by default that of this process. */
  directory?: string
  /** Folder of the report of a suite; by default that of all outputs. */
  reports?: string
  /** As nice(1) has it: how much the part gives way to others. */
  niceness?: number
  /** A suite that looks for races: a failure counts, however rare. */
  isForRaces?: boolean
}

/** A failed test. Its file is relative to the folder of the part. */
export interface Failure {
  file: string
  name: string
  /** The first line of its error. */
  reason: string
}

export interface Outcome extends Time {
  name: string
  passed: number
  failed: number
  failures: Failure[]
  /** Tests that failed beside other parts, and passed alone. */
  unsteady?: readonly Failure[]
  /** One sentence for each failure that is not a test's. */
  problems: string[]
  output: string
}

interface Report {
  passed: number
  failed: number
  failures: Failure[]
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

/** Characters of a reason: that of a comparison of texts may have a whole page. */
const LONGEST_REASON = 500

interface Assertion {
  status: string
  fullName: string
  failureMessages?: string[]
}

/** What is read of a report of vitest. */
interface JsonReport {
  numPassedTests?: unknown
  numFailedTests?: unknown
  testResults?: { name: string; assertionResults: Assertion[] }[]
}

/** Returns the counts and the failed tests of a report of vitest, undefined if there is none, as after a crash. */
async function readReport(file: string, root: string): Promise<Report | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '')
  try {
    const { numPassedTests, numFailedTests, testResults = [] } = JSON.parse(text) as JsonReport
    if (typeof numPassedTests !== 'number' || typeof numFailedTests !== 'number') return undefined
    const failures = testResults.flatMap(({ name, assertionResults }) =>
      assertionResults
        .filter(({ status }) => status === 'failed')
        .map(({ fullName, failureMessages: [error = ''] = [] }) => ({
          file: relative(root, name),
          name: fullName,
          reason: reasonOf(stripVTControlCharacters(error), name),
        })),
    )
    return { passed: numPassedTests, failed: numFailedTests, failures }
  } catch {
    return undefined
  }
}

/** Returns the first line of an error, and the line of the test file from which it comes. */
function reasonOf(error: string, file: string): string {
  const [first = '', ...stack] = error.split('\n')
  const line = stack.find((one) => one.includes(`${file}:`))?.split(`${file}:`)[1]
  return first.slice(0, LONGEST_REASON) + (line === undefined ? '' : ` (line ${Number.parseInt(line, 10)})`)
}

/**
 * Judges a part that has ended. A suite that fails without a failed test (a file that does not load, an unhandled error), has no
 * report or no test is one failure, and so is each excess of its time.
 */
export function judge(
  { name, isSuite = false, niceness }: Part,
  { code, ...time }: Time & { code: number },
  report: Report | undefined,
  times: Times,
  slowness = AS_USUAL,
): Omit<Outcome, 'output'> {
  const none = { passed: 0, failed: 0, failures: [] }
  const own = isSuite ? (report ?? none) : { ...none, passed: code === 0 ? 1 : 0 }
  // How long a part takes that gives way depends on the others.
  const problems = excesses(name, niceness ? { ...time, seconds: 0 } : time, times, slowness)
  if (isSuite && report === undefined) problems.push(`${name} has written no report`)
  else if (isSuite && own.passed + own.failed === 0) problems.push(`${name} has run no test`)
  else if (code !== 0 && own.failed === 0) problems.push(`${name} ended with ${code}`)
  return { name, ...time, ...own, failed: own.failed + problems.length, problems }
}

/** Runs a part with its output in a file of the folder. */
export async function runPart(part: Part, folder: string, times: Times, pace?: Pace): Promise<Outcome> {
  const start = Date.now()
  const file = (extension: string, place = folder) => join(place, `${part.name.replaceAll(/\W+/g, '-')}.${extension}`)
  const reported = file('json', part.reports)
  const [command = '', ...words] = [...(part.niceness ? ['nice', '-n', `${part.niceness}`] : []), ...part.command]
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reported}`]
  const args = [file('measured'), command, ...words, ...(part.isSuite ? reporters : [])]
  const output = openSync(file('log'), 'w')
  const child = spawn(join(import.meta.dirname, 'measure'), args, {
    stdio: ['ignore', output, output],
    ...(part.directory !== undefined && { cwd: part.directory }),
  })
  await once(child, 'exit')
  closeSync(output)
  const measured = await readMeasured(file('measured'))
  const report = part.isSuite ? await readReport(reported, part.directory ?? process.cwd()) : undefined
  return {
    ...judge(part, measured, report, times, pace?.slownessSince(start)),
    output: await readFile(file('log'), 'utf8'),
  }
}
