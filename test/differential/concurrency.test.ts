/** Compares concurrent writes on kube-apiserver and on this API: the numbers of each code and the final objects must match. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, createClient, type Reply } from '../conformance/client.ts'
import { type StartedSubject, startSubject } from '../conformance/subject.ts'
import { type Oracle, startOracle } from './oracle.ts'

let oracle: Oracle
let started: StartedSubject

beforeAll(async () => {
  ;[oracle, started] = await Promise.all([
    startOracle(process.env.KUBEBUILDER_ASSETS ?? ''),
    startSubject({ collectsGarbage: false }),
  ])
})
afterAll(() => Promise.all([oracle?.stop(), started?.server.stop()]))

const objects = 15
const writers = 4

interface Apply {
  /** Returns the fields of a writer and its manager. */
  of(writer: number): { manager: string; labels: object }
  query?: string
  metadata?: object
}

async function applyAll(
  client: Client,
  name: string,
  { of, query = '', metadata }: Apply,
  writer: number,
): Promise<Reply> {
  const { manager, labels } = of(writer)
  const body = { apiVersion: 'management.platform/v1', kind: 'OwnedAccessKey', metadata: { name, labels, ...metadata } }
  return client.send({
    method: 'PATCH',
    path: `/ownedaccesskeys/${name}?fieldManager=${manager}${query}`,
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: JSON.stringify(body),
  })
}

/** Returns the number of each code and the numbers of labels and managers of the objects. */
async function outcome(client: Client, run: string, apply: Apply) {
  const names = Array.from({ length: objects }, (_, index) => `${run}-${index}`)
  const replies = await Promise.all(
    names.flatMap((name) => Array.from({ length: writers }, (_, writer) => applyAll(client, name, apply, writer))),
  )
  const codes: Record<number, number> = {}
  for (const { code } of replies) codes[code] = (codes[code] ?? 0) + 1
  const kept = await Promise.all(
    names.map(async (name) => {
      const { code, text } = await client.send({ method: 'GET', path: `/ownedaccesskeys/${name}` })
      const { labels = {}, managedFields = [] } = code === 200 ? JSON.parse(text).metadata : {}
      return [Object.keys(labels).length, managedFields.length]
    }),
  )
  return { codes, kept }
}

const ownLabel = (writer: number) => ({ manager: `m${writer}`, labels: { [`l${writer}`]: 'x' } })
const sharedLabel = (writer: number) => ({ manager: `m${writer}`, labels: { l: `x${writer}` } })

test.each<[string, Apply, Record<number, number>]>([
  ['one manager', { of: () => ownLabel(0) }, { 200: 45, 201: 15 }],
  ['several managers with fields of their own', { of: ownLabel }, { 200: 45, 201: 15 }],
  ['several managers of one field', { of: sharedLabel }, { 201: 15, 409: 45 }],
  ['several managers of one field, by force', { of: sharedLabel, query: '&force=true' }, { 200: 45, 201: 15 }],
  ['a dry run', { of: ownLabel, query: '&dryRun=All' }, { 201: 60 }],
  ['a uid', { of: ownLabel, metadata: { uid: 'c0ffee00-0000-4000-8000-000000000000' } }, { 409: 60 }],
])('concurrent applies of a missing object return the same codes: %s', async (what, apply, codes) => {
  const run = what.replaceAll(/[ ,]+/g, '-')
  const [there, here] = [createClient(oracle), createClient(started.subject)]
  const [expected, found] = await Promise.all([outcome(there, run, apply), outcome(here, run, apply)])
  there.close()
  here.close()
  expect(expected.codes).toEqual(codes)
  expect(found).toEqual(expected)
})
