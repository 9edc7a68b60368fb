/**
 * Runs the parts of .ci/run in the folder of the clone, and counts. Its argument is the folder of outputs, where `npm-ci` has the
 * times of the first part.
 */
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { followPace } from './pace.ts'
import { judge, type Outcome, readMeasured, runPart } from './part.ts'
import { partsOn } from './parts.ts'
import { runSideBySide } from './sidebyside.ts'
import { readTimes } from './times.ts'

/** Cores above those of the machine that parts may claim: none computes all the time. With more, tests that wait for each other fail by chance. */
const SPARE = 0.5

const [folder = ''] = process.argv.slice(2)
const times = readTimes()
const outcomes: Outcome[] = []
const say = (line: string) => void process.stdout.write(`${line}\n`)

function end(outcome: Outcome): void {
  const { name, passed, failed, problems, output } = outcome
  outcomes.push(outcome)
  say(`== ${name}: ${passed} passed, ${failed} failed`)
  if (output.trim() !== '') say(output.trimEnd())
  for (const problem of problems) say(`FAILED: ${problem}`)
}

const first = await readMeasured(join(folder, 'npm-ci'))
end({ ...judge({ name: 'npm ci', command: [] }, first, undefined, times), output: '' })

const parts = partsOn({
  env: process.env,
  isRoot: process.getuid?.() === 0,
  clone: process.cwd(),
  copy: join(folder, 'copy'),
  base: join(folder, 'base'),
})
const loadOf = ({ name }: { name: string }): number => {
  const { seconds, cpu } = times.get(name) ?? {}
  return seconds && cpu ? Math.min(cpu / seconds, availableParallelism()) : 0
}
const pace = followPace()
const start = Date.now()
await runSideBySide(parts, availableParallelism() + SPARE, loadOf, async (part) => {
  say(`== ${part.name} begins`)
  end(await runPart(part, folder, times, pace))
})
const slowness = pace.slownessSince(start)
await pace.stop()
if (!parts.some(({ name }) => name === 'npm run test:cluster'))
  say('== npm run test:cluster is SKIPPED: KUBEBUILDER_ASSETS names no binaries of a kube-apiserver')

say(`\nThis machine was ${slowness.toFixed(2)} times as slow as that of .ci/times.`)
say('seconds  CPU seconds  usual  part')
for (const { name, seconds, cpu } of outcomes) {
  const usual = times.get(name)
  const columns = [seconds.toFixed(0).padStart(7), cpu.toFixed(0).padStart(11)]
  say(`${columns.join('  ')}  ${`${usual?.seconds ?? '-'} ${usual?.cpu ?? '-'}`.padStart(5)}  ${name}`)
}
const sum = (of: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + of(outcome), 0)
const failed = sum((outcome) => outcome.failed)
say(`${sum((outcome) => outcome.passed)} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
