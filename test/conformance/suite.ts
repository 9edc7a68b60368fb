/** Defines one test for each scenario of a folder. All run on one server with unique names, concurrently where the store is in this process. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { TestServer } from '../support/server.ts'
import { isDynamoDB } from '../support/store.ts'
import { type Exception, exceptions } from './exceptions.ts'
import { check, type Failure, type Subject } from './player.ts'
import { readScenarios } from './scenario.ts'
import { startSubject } from './subject.ts'

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

export interface SuiteOptions {
  /** The folder of the scenarios. */
  folder: string
  collectsGarbage: boolean
  /** Returns tokens of the users in scenarios other than the administrator. */
  tokens?(server: TestServer): Promise<Readonly<Record<string, string>>>
}

export async function conformanceSuite({ folder, collectsGarbage, tokens }: SuiteOptions): Promise<void> {
  vi.setConfig({ testTimeout: 600_000, hookTimeout: 120_000 })
  const scenarios = await readScenarios(join(import.meta.dirname, folder))
  let server: TestServer
  let subject: Subject

  beforeAll(async () => {
    const started = await startSubject({ collectsGarbage })
    server = started.server
    subject = { ...started.subject, tokens: { ...started.subject.tokens, ...(await tokens?.(server)) } }
  })

  afterAll(() => server?.stop())

  // The clients of DynamoDB wait for a second, which 30 scenarios at once can use up on a busy machine.
  const together = isDynamoDB ? describe : describe.concurrent
  together(`returns the same as kube-apiserver: ${folder}`, () => {
    test.for(scenarios.map((scenario) => [scenario.file, scenario] as const))('%s', async ([file, scenario]) => {
      const failures = await check(scenario, subject)
      const allowed = exceptions.filter((exception) => exception.file === file)
      expect(judgeFailures(failures, allowed)).toEqual({ unexpected: [], needless: [] })
    })
  })
}
