/** Records a sequence on kube-apiserver and compares the answers of this API with it. */
import { type Difference, differences } from '../conformance/differences.ts'
import { freshRun, play, type Subject } from '../conformance/player.ts'
import { type Answer, type Entry, isStep, type Scenario, type Step } from '../conformance/scenario.ts'
import type { Oracle } from './oracle.ts'
import { toleranceOf } from './tolerances.ts'

/** Returns the scenario with the answers of kube-apiserver, truncated at the request that crashes it. */
export async function recordScenario(scenario: Scenario, oracle: Oracle): Promise<Scenario> {
  const run = freshRun()
  await oracle.makeNamespace(run)
  const wants = new Map<Step, Answer>()
  try {
    for await (const { step, got } of play(scenario, oracle, { run })) wants.set(step, got)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error
  }
  const steps = scenario.steps.flatMap((entry): Entry[] => {
    if (!isStep(entry)) return [entry]
    const want = wants.get(entry)
    return want ? [{ ...entry, want }] : []
  })
  return { ...scenario, steps }
}

export interface Found {
  sequence: string
  number: number
  request: string
  body: unknown
  differences: readonly Difference[]
}

export interface Compared {
  requests: number
  found: readonly Found[]
  /** The number of uses of each rule in tolerances.ts. */
  tolerated: ReadonlyMap<string, number>
}

/** Plays a recorded sequence on this API until the two servers are in different states. */
export async function compare(scenario: Scenario, subject: Subject): Promise<Compared> {
  const found: Found[] = []
  const tolerated = new Map<string, number>()
  const earlier: Step[] = []
  let requests = 0
  for await (const { number, step, got } of play(scenario, subject)) {
    requests++
    const before = earlier.slice()
    earlier.push(step)
    const { want } = step
    const different = differences(step, got, subject.additions?.(got.code) ?? [])
    if (different.length === 0 || !want) continue
    const tolerance = toleranceOf(step, want, got, before)
    if (tolerance) tolerated.set(tolerance.reason, (tolerated.get(tolerance.reason) ?? 0) + 1)
    else {
      const request = `${step.method} ${step.path} ${JSON.stringify(step.headers ?? {})}`
      found.push({ sequence: scenario.file, number, request, body: step.body, differences: different })
    }
    const bothRefuse = want.code >= 400 && got.code >= 400
    if (tolerance?.ends || !(tolerance || bothRefuse)) break
  }
  return { requests, found, tolerated }
}
