/**
 * Compares random sequences of requests on kube-apiserver and on this API: every answer must be the same. Set
 * DIFFERENTIAL_SEEDS (`1-100` or `7`) for other sequences.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Scenario } from '../conformance/scenario.ts'
import { type StartedSubject, startSubject } from '../conformance/subject.ts'
import { type Compared, compare, type Found, recordScenario } from './compare.ts'
import { generate } from './generator.ts'
import { type Oracle, startOracle } from './oracle.ts'

const [from = 1, to = from] = (process.env.DIFFERENTIAL_SEEDS ?? '1-100').split('-').map(Number)

/** The number of concurrent sequences. */
const lanes = 4

let oracle: Oracle
let started: StartedSubject

/**
 * The number of plays of a sequence that differs. Managers are ordered by their times, so the second of an apply decides
 * whether it is a no-op. Only differences in every play count.
 */
const most = 4

async function compareTwice(sequence: Scenario): Promise<Compared> {
  for (let times = 1; ; times++) {
    const compared = await compare(await recordScenario(sequence, oracle), started.subject)
    if (compared.found.length === 0 || times === most) return compared
  }
}

beforeAll(async () => {
  ;[oracle, started] = await Promise.all([
    startOracle(process.env.KUBEBUILDER_ASSETS ?? ''),
    startSubject({ collectsGarbage: false }),
  ])
})

afterAll(() => Promise.all([oracle?.stop(), started?.server.stop()]))

test(`sequences ${from} to ${to} have the same answers on both servers`, async () => {
  const found: Found[] = []
  const tolerated = new Map<string, number>()
  let requests = 0
  let next = from
  const runLane = async (): Promise<void> => {
    while (next <= to) {
      const sequence = generate(next++)
      const compared = await compareTwice(sequence)
      found.push(...compared.found)
      requests += compared.requests
      for (const [reason, times] of compared.tolerated) tolerated.set(reason, (tolerated.get(reason) ?? 0) + times)
    }
  }
  await Promise.all(Array.from({ length: lanes }, runLane))
  process.stdout.write(`${requests} requests; tolerated: ${JSON.stringify(Object.fromEntries(tolerated), null, 1)}\n`)
  expect(found).toEqual([])
})
