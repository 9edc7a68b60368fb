/** Tests the metrics in the log of the whole API. docs/monitoring.md describes them. */

import { expect, test } from 'vitest'
import { keys } from '../support/objects.ts'
import { applyPatch } from '../support/request.ts'
import type { TestServer } from '../support/server.ts'
import { useServer } from '../support/sharedserver.ts'

interface Directive {
  Namespace: string
  Dimensions: string[][]
  Metrics: { Name: string; Unit: string }[]
}

// biome-ignore lint/suspicious/noExplicitAny: lines are JSON of every shape.
type Line = any

const kind = { apiVersion: 'management.platform/v1', kind: 'OwnedAccessKey' }

const server = useServer()

const lines = (): Line[] => server.log.map((line) => JSON.parse(line))

/** Returns the metric lines of a request, from its authorizer and its handler, each with its metrics by name. */
async function callMeasured(path: string, call: Parameters<TestServer['call']>[1] = {}) {
  const answer = await server.call(path, call)
  return lines()
    .filter(({ requestId, _aws }) => _aws && requestId === answer.headers['audit-id'])
    .map((line) => ({ line, metrics: metricsOf(line) }))
}

/** Metrics by `dimension=value name`. */
function metricsOf(line: Line): Record<string, number> {
  const directives: Directive[] = line._aws.CloudWatchMetrics
  return Object.fromEntries(
    directives.flatMap(({ Dimensions: [dimensions = []], Metrics }) =>
      Metrics.map(({ Name }) => [[...dimensions.map((one) => `${one}=${line[one]}`), Name].join(' '), line[Name]]),
    ),
  )
}

test('a request has metrics of its failure and its calls, none by endpoint, and its authorization has metrics by outcome', async () => {
  const [authorizer, handler] = await callMeasured(keys, {
    method: 'POST',
    body: { ...kind, metadata: { name: 'one' } },
  })
  expect(authorizer?.metrics).toEqual({
    'authorization=allowed authorizations': 1,
    // The credential, its last activity, and what it did for the first time today.
    storageCalls: 3,
    kmsCalls: 0,
    secretCalls: expect.any(Number),
  })
  expect(handler?.metrics).toEqual({
    serverErrors: 0,
    virtualClusterErrors: 0,
    // A revision and the transaction.
    storageCalls: 2,
    kmsCalls: 0,
    secretCalls: expect.any(Number),
  })
})

const applyBody = (name: string, more: object) => applyPatch({ ...kind, metadata: { name }, ...more })
const create = (metadata: object) => ({ method: 'POST', body: { ...kind, metadata } })
const asPartial = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'

// Mistakes of clients for which kube-apiserver returns 5xx.
// threat: logs-4
test.each<[number, string, Parameters<TestServer['call']>[1]]>([
  [504, '?resourceVersion=999999999', {}],
  [504, '/one?resourceVersion=999999999', {}],
  [504, '?resourceVersion=999999999', { method: 'DELETE' }],
  [500, '', create({ name: 'new', resourceVersion: '5' })],
  [500, '/one?fieldManager=m', applyBody('one', { spec: { unknown: 1 } })],
  [500, '/one?fieldManager=m', applyBody('one', { spec: { groups: 'none' } })],
  [500, '/one', { headers: { accept: asPartial } }],
])('a %i that a client causes counts as no server error and logs none: %s', async (code, path, call) => {
  const before = lines().filter(({ level }) => level === 'error').length
  const [, handler] = await callMeasured(`${keys}${path}`, call)
  expect(handler?.line).toMatchObject({ code, fault: 'client', serverErrors: 0, virtualClusterErrors: 0 })
  expect(lines().filter(({ level }) => level === 'error')).toHaveLength(before)
})

test('creating a token calls KMS once', async () => {
  const body = { apiVersion: kind.apiVersion, kind: 'DirectClusterEndpointToken', spec: {} }
  const path = '/apis/management.platform/v1/directclusterendpointtokens'
  await server.post(path, body)
  const [, handler] = await callMeasured(path, { method: 'POST', body })
  expect(handler?.metrics).toMatchObject({ kmsCalls: 1, storageCalls: 0 })
})

test('requests without a user count as authorizations only', async () => {
  const made = await server.post(keys, { ...kind, metadata: { name: 'two' }, spec: { scope: {} } })
  const outcomes = [
    { token: '', outcome: 'unknown' },
    { token: made.json.spec.key, outcome: 'denied' },
  ]
  for (const { token, outcome } of outcomes) {
    const [authorizer, ...others] = await callMeasured(`${keys}/two`, { token })
    expect(authorizer?.metrics).toMatchObject({ [`authorization=${outcome} authorizations`]: 1 })
    expect(others).toEqual([])
  }
  await server.patch(`${keys}/two`, { spec: { disabled: true } })
  const [dead] = await callMeasured(`${keys}/two`, { token: made.json.spec.key })
  expect(dead?.metrics).toMatchObject({ 'authorization=dead authorizations': 1 })
})

// Custom keys have 32 to 512 printable characters. Any other text is not looked up.
const junk = {
  'a wrong checksum': `mpk_${'0'.repeat(49)}`,
  'a key that is cut off': 'mpk_000000000000000000000000000000000000000000034O1x',
  'a short text': 'hunter2',
  'a text of 31 characters': 'x'.repeat(31),
  'a text of 513 characters': 'x'.repeat(513),
  'a JSON Web Token': `eyJ${'a'.repeat(40)}.e30.c2ln`,
  'an encrypted one': `eyJ${'a'.repeat(40)}.a.a.a.c2ln`,
  'characters that are not ASCII': 'é'.repeat(40),
}

// threat: gateway-3
test.each(Object.entries(junk))('%s causes no read of the table or the pepper', async (_, token) => {
  const asked = await callMeasured(`${keys}/one`, { headers: { authorization: `Bearer ${token}` }, token: '' })
  expect(asked.map(({ metrics }) => metrics)).toEqual([
    { 'authorization=unknown authorizations': 1, storageCalls: 0, kmsCalls: 0, secretCalls: 0 },
  ])
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } }
  const [, review] = await callMeasured('/apis/authentication.k8s.io/v1/tokenreviews', { method: 'POST', body })
  expect(review?.metrics).toMatchObject({ storageCalls: 0, secretCalls: 0 })
})

test('a text that may be a custom key is looked up', async () => {
  const [authorizer] = await callMeasured(`${keys}/one`, { token: 'x'.repeat(32) })
  expect(authorizer?.metrics).toMatchObject({ storageCalls: 1 })
})

test('every line is valid for CloudWatch', () => {
  const measured = lines().filter(({ _aws }) => _aws)
  expect(measured.length).toBeGreaterThan(5)
  for (const line of measured) {
    expect(line._aws.Timestamp).toBeGreaterThan(Date.now() - 600_000)
    for (const { Namespace, Dimensions, Metrics } of line._aws.CloudWatchMetrics as Directive[]) {
      expect(Namespace).toBe('keyplane/local')
      for (const name of Dimensions.flat()) expect(line[name]).toEqual(expect.any(String))
      for (const { Name, Unit } of Metrics) {
        expect(line[Name]).toEqual(expect.any(Number))
        expect(Unit).toBe('Count')
      }
    }
  }
})
