/**
 * Compares random sequences of requests on kube-apiserver, on this API, and on the engine alone: every answer must be the same. Set
 * DIFFERENTIAL_SEEDS (`1-100` or `7`) for other sequences.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { VirtualClusterInstance } from '../../lib/clusters/virtualclusterinstance.ts'
import { pageNotFound } from '../../lib/engine/endpoints/respond.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import type { Scenario } from '../conformance/scenario.ts'
import { startStrangers, translated } from '../conformance/strangers.ts'
import { type StartedSubject, startSubject } from '../conformance/subject.ts'
import type { Started } from '../conformance/suite.ts'
import { type Compared, compare, type Found, recordScenario } from './compare.ts'
import { likeness } from './definitions.ts'
import { generate } from './generator.ts'
import { type Oracle, startOracle } from './oracle.ts'

const [from = 1, to = from] = (process.env.DIFFERENTIAL_SEEDS ?? '1-100').split('-').map(Number)

/** The number of concurrent sequences. */
const lanes = 4

let oracle: Oracle
let started: StartedSubject
let strangers: Started

/**
 * The number of plays of a sequence that differs. Managers are ordered by their times, so the second of an apply decides
 * whether it is a no-op. Only differences in every play count.
 */
const most = 4

/** Reports whether the example of the engine serves the path: it has no texts for others. */
const isServed = ({ differences }: Found): boolean =>
  !differences.some(({ pointer, got }) => pointer === '/text' && got === pageNotFound.body)

async function compareTwice(sequence: Scenario): Promise<Compared> {
  for (let times = 1; ; times++) {
    const recorded = await recordScenario(sequence, oracle)
    const compared = await compare(recorded, started.subject)
    const alone = await compare(translated(recorded), strangers.subject)
    const found = [...compared.found, ...alone.found.filter(isServed)]
    if (found.length === 0 || times === most) return { ...compared, found }
  }
}

beforeAll(async () => {
  ;[oracle, started, strangers] = await Promise.all([
    startOracle(process.env.KUBEBUILDER_ASSETS ?? ''),
    startSubject({ collectsGarbage: false }),
    startStrangers({ cluster: likeness(OwnedAccessKey), namespaced: likeness(VirtualClusterInstance) }),
  ])
})

afterAll(() => Promise.all([oracle?.stop(), started?.server.stop(), strangers?.stop()]))

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
