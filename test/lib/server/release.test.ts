/** The custom resource Release, whose requests are answered at a presigned URL. */

import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { beforeAll, expect, test } from 'vitest'
import event from '../../../events/release.json' with { type: 'json' }
import { releaseHandler } from '../../../lib/server/release.ts'
import { listening } from '../../support/listening.ts'

const received: { method: string | undefined; headers: IncomingHttpHeaders; body: string }[] = []
let status = 200
const server = createServer(async (request, response) => {
  received.push({ method: request.method, headers: request.headers, body: await text(request) })
  response.writeHead(status).end()
})
let ResponseURL: string
beforeAll(async () => {
  const { url, stop } = await listening(server)
  ResponseURL = `${url}/response?X-Amz-Signature=x`
  return stop
})

/** Returns what the handler answers for these properties. */
async function answerTo(properties: object) {
  const { ServiceToken, ServiceTimeout, Release } = event.ResourceProperties
  await releaseHandler(0)({
    ...event,
    ResponseURL,
    ResourceProperties: { ServiceToken, ServiceTimeout, Release, ...properties },
  })
  const last = received.at(-1)
  return { method: last?.method, headers: last?.headers, body: JSON.parse(last?.body ?? '') }
}
const descriptionOf = async (properties: object) => (await answerTo(properties)).body.Data.Description

test('is answered with the release and a digest, as the same resource', async () => {
  const { method, headers, body } = await answerTo({ MaxKeyTtlSeconds: '0' })
  expect([method, headers?.['content-type'], headers?.['content-length']]).toEqual([
    'PUT',
    undefined,
    expect.any(String),
  ])
  expect(body).toEqual({
    Status: 'SUCCESS',
    PhysicalResourceId: 'release',
    StackId: event.StackId,
    RequestId: event.RequestId,
    LogicalResourceId: 'Release',
    Data: { Description: expect.stringMatching(/^0\.2\.0 935efa066e1bb7aa [0-9a-f]{16}$/) },
  })
})

test('has another description for another value, another name and another release, and for no other order', async () => {
  const one = await descriptionOf({ A: '1', B: '2' })
  expect(await descriptionOf({ B: '2', A: '1' })).toBe(one)
  for (const other of [{ A: '1', B: '3' }, { A: '1', C: '2' }, { A: '1' }, { A: '1', B: '2', Release: '0.3.0 x' }])
    expect(await descriptionOf(other)).not.toBe(one)
})

test('sends the response three times, then fails', async () => {
  status = 503
  const before = received.length
  await expect(answerTo({})).rejects.toThrow('CloudFormation did not take the response: 503')
  expect(received.length - before).toBe(3)
})
