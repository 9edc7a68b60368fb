/**
 * Runs failed tests again. Other parts, and other guests of the host, can make a test fail that waits for programs, browsers and
 * clocks. Then it passes alone. A mistake that comes and goes would hardly pass alone each time.
 */
import type { Outcome, Part } from './part.ts'

const TIMES = 3

/**
 * Runs the files with failed tests alone, three times, if nothing else was wrong with the part. If all pass, the failed tests count
 * as passed, and are named as unsteady. Parts that look for races are not repeated: their failures may be the rare case that they look for.
 */
export async function runAgain(part: Part, outcome: Outcome, run: (part: Part) => Promise<Outcome>): Promise<Outcome> {
  if (outcome.failures.length === 0 || outcome.problems.length > 0 || part.isForRaces) return outcome
  const files = new Set(outcome.failures.map(({ file }) => file))
  const again = { ...part, name: `${part.name} again`, command: [...part.command, ...files] }
  for (let time = 1; time <= TIMES; time++) {
    const { failed } = await run(again)
    if (failed > 0) return outcome
  }
  const { passed, failures } = outcome
  return { ...outcome, passed: passed + failures.length, failed: 0, failures: [], unsteady: failures }
}
