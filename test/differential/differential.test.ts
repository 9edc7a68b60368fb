/**
 * Random sequences of requests on a kube-apiserver and on this API: every answer must be the same. Set
 * DIFFERENTIAL_SEEDS (`1-100`, or `7`) for other sequences.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type StartedSubject, startSubject } from '../conformance/subject.ts'
import { compare, type Found, recorded } from './compare.ts'
import { generate } from './generator.ts'
import { type Oracle, startOracle } from './oracle.ts'

const [from = 1, to = from] = (process.env.DIFFERENTIAL_SEEDS ?? '1-100').split('-').map(Number)

/** As many sequences at a time. */
const lanes = 4

let oracle: Oracle
let started: StartedSubject

beforeAll(async () => {
  ;[oracle, started] = await Promise.all([
    startOracle(process.env.KUBEBUILDER_ASSETS ?? ''),
    startSubject({ collectsGarbage: false }),
  ])
})

afterAll(() => Promise.all([oracle?.stop(), started?.server.stop()]))

test(`sequences ${from} to ${to}`, async () => {
  const found: Found[] = []
  const tolerated = new Map<string, number>()
  let requests = 0
  let next = from
  const lane = async (): Promise<void> => {
    while (next <= to) {
      const sequence = generate(next++)
      const compared = await compare(await recorded(sequence, oracle), started.subject)
      found.push(...compared.found)
      requests += compared.requests
      for (const [reason, times] of compared.tolerated) tolerated.set(reason, (tolerated.get(reason) ?? 0) + times)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  process.stdout.write(`${requests} requests; tolerated: ${JSON.stringify(Object.fromEntries(tolerated), null, 1)}\n`)
  expect(found).toEqual([])
})
