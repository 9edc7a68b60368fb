/** Defines one test for each scenario. All run on one server with unique names, concurrently where the store is in this process. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { isDynamoDB } from '../support/store.ts'
import type { Exception } from './exceptions.ts'
import { check, type Failure, type Subject } from './player.ts'
import type { Scenario } from './scenario.ts'

const below = (pointer: string, parent: string): boolean => pointer === parent || pointer.startsWith(`${parent}/`)

/** Returns the differences without an exception and the exceptions without a difference. */
function judgeFailures(failures: readonly Failure[], allowed: readonly Exception[]) {
  const explains = ({ step, pointers }: Exception, { number, pointer }: Failure): boolean =>
    step === number && pointers.some((parent) => below(pointer, parent))
  return {
    unexpected: failures.filter((failure) => !allowed.some((exception) => explains(exception, failure))),
    needless: allowed.flatMap((exception) =>
      exception.pointers
        .filter((pointer) => !failures.some((failure) => explains({ ...exception, pointers: [pointer] }, failure)))
        .map((pointer) => ({ ...exception, pointers: [pointer] })),
    ),
  }
}

export interface Started {
  subject: Subject
  stop(): Promise<void> | void
}

export interface SuiteOptions {
  /** What plays the scenarios. */
  title: string
  scenarios: readonly Scenario[]
  exceptions: readonly Exception[]
  start(): Promise<Started>
}

export function conformanceSuite({ title, scenarios, exceptions, start }: SuiteOptions): void {
  vi.setConfig({ testTimeout: 600_000, hookTimeout: 120_000 })
  let started: Started

  beforeAll(async () => {
    started = await start()
  })

  afterAll(() => started?.stop())

  // The clients of DynamoDB wait for a second, which 30 scenarios at once can use up on a busy machine.
  const together = isDynamoDB ? describe : describe.concurrent
  together(`returns the same as kube-apiserver: ${title}`, () => {
    test.for(scenarios.map((scenario) => [scenario.file, scenario] as const))('%s', async ([file, scenario]) => {
      const failures = await check(scenario, started.subject)
      const allowed = exceptions.filter((exception) => exception.file === file)
      expect(judgeFailures(failures, allowed)).toEqual({ unexpected: [], needless: [] })
    })
  })
}
