/**
 * Runs the parts of .ci/run in the folder of the clone, and counts. Its argument is the folder of outputs, where `npm-ci` has the
 * times of the first part.
 */
import { availableParallelism, homedir } from 'node:os'
import { join } from 'node:path'
import { runAgain } from './again.ts'
import { followPace } from './pace.ts'
import { type Failure, judge, type Outcome, readMeasured, runPart } from './part.ts'
import { partsOn } from './parts.ts'
import { runSideBySide } from './sidebyside.ts'
import { readTimes } from './times.ts'

/** Cores above those of the machine that parts may claim: none computes all the time, and those that compute most give way to the others. */
const SPARE = 1.25

const [folder = ''] = process.argv.slice(2)
const times = readTimes()
const outcomes: Outcome[] = []
const say = (line: string) => void process.stdout.write(`${line}\n`)

function show({ name, passed, failed, problems, output }: Outcome): void {
  say(`== ${name}: ${passed} passed, ${failed} failed`)
  if (output.trim() !== '') say(output.trimEnd())
  for (const problem of problems) say(`FAILED: ${problem}`)
}

const parts = partsOn({
  env: process.env,
  isRoot: process.getuid?.() === 0,
  clone: process.cwd(),
  copy: join(folder, 'copy'),
  // Programs that quote a path wrongly, or take a URL for one, fail in this one.
  usersCopy: join(folder, "it's Zoë's — 日本 ü", 'keyplane'),
  base: join(folder, 'base'),
  cache: join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'keyplane'),
})
const loadOf = ({ name }: { name: string }): number => {
  const { seconds, cpu } = times.get(name) ?? {}
  return seconds && cpu ? Math.min(cpu / seconds, availableParallelism()) : 0
}
const pace = followPace()
const start = Date.now()
await runSideBySide(parts, availableParallelism() + SPARE, loadOf, async (part) => {
  say(`== ${part.name} begins`)
  const outcome = await runPart(part, folder, times, pace)
  show(outcome)
  outcomes.push(outcome)
})
const slowness = pace.slownessSince(start)
await pace.stop()
// It ran before the machine was measured.
const first = await readMeasured(join(folder, 'npm-ci'))
const installed = { ...judge({ name: 'npm ci', command: [] }, first, undefined, times, slowness), output: '' }
show(installed)
outcomes.unshift(installed)
for (const [index, outcome] of outcomes.entries()) {
  const part = parts.find(({ name }) => name === outcome.name)
  if (part !== undefined)
    outcomes[index] = await runAgain(part, outcome, async (again) => {
      const repeated = await runPart(again, folder, new Map([[again.name, {}]]))
      show(repeated)
      return repeated
    })
}
if (!parts.some(({ name }) => name === 'npm run test:cluster'))
  say('== npm run test:cluster is SKIPPED: KUBEBUILDER_ASSETS names no binaries of a kube-apiserver')

const [elapsed, computed] = [slowness.seconds.toFixed(2), slowness.cpu.toFixed(2)]
say(
  `\nA calculation took ${elapsed} times the seconds, and ${computed} times the CPU seconds, of the machine of .ci/times.`,
)
say('seconds  CPU seconds  usual  part')
for (const { name, seconds, cpu } of outcomes) {
  const usual = times.get(name)
  const columns = [seconds.toFixed(0).padStart(7), cpu.toFixed(0).padStart(11)]
  say(`${columns.join('  ')}  ${`${usual?.seconds ?? '-'} ${usual?.cpu ?? '-'}`.padStart(5)}  ${name}`)
}
// Once more near the last line: whoever reads only the end must see what failed.
for (const { name, failures, unsteady = [], problems } of outcomes) {
  const tell = (what: string, { file, name: test, reason }: Failure) => say(`${what}: ${file}: ${test}: ${reason}`)
  for (const failure of failures) tell(`FAILED in ${name}`, failure)
  for (const failure of unsteady) tell(`UNSTEADY in ${name}, passed three times alone`, failure)
  for (const problem of problems) say(`FAILED: ${problem}`)
}
const sum = (of: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + of(outcome), 0)
const failed = sum((outcome) => outcome.failed)
say(`${sum((outcome) => outcome.passed)} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
