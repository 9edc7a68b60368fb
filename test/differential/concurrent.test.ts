/** Compares groups of concurrent requests on kube-apiserver and on this API. Set DIFFERENTIAL_SEEDS for other groups. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, createClient } from '../conformance/client.ts'
import { freshRun } from '../conformance/player.ts'
import { type StartedSubject, startSubject } from '../conformance/subject.ts'
import { groupOf, outcomeOf } from './concurrent.ts'
import { type Oracle, startOracle } from './oracle.ts'
import { createRandom } from './random.ts'

const [from = 1, to = from] = (process.env.DIFFERENTIAL_SEEDS ?? '1-60').split('-').map(Number)

let oracle: Oracle
let started: StartedSubject
let clients: Client[] = []

beforeAll(async () => {
  ;[oracle, started] = await Promise.all([
    startOracle(process.env.KUBEBUILDER_ASSETS ?? ''),
    startSubject({ collectsGarbage: false }),
  ])
  clients = [createClient(oracle), createClient(started.subject)]
})

afterAll(() => {
  for (const client of clients) client.close()
  return Promise.all([oracle?.stop(), started?.server.stop()])
})

test(`groups ${from} to ${to} have the same outcomes on both servers`, async () => {
  for (let seed = from; seed <= to; seed++) {
    const run = freshRun()
    await oracle.makeNamespace(run)
    const group = groupOf(createRandom(seed), run)
    const [theirs, ours] = await Promise.all(clients.map((client) => outcomeOf(group, client)))
    expect({ seed, about: group.about, ...ours }).toEqual({ seed, about: group.about, ...theirs })
  }
})
