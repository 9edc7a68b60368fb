/** Tests that signatures of requests to Lambda are those of the SDK's signer. */

import { createServer } from 'node:http'
import { SignatureV4 } from '@smithy/signature-v4'
import { expect, onTestFinished, test } from 'vitest'
import { connectionOf, invokeLater, signedHeaders } from '../../../../lib/server/lambda/lambdaapi.ts'
import { listening } from '../../../support/listening.ts'
import { Sha256 } from '../../../support/sdkhash.ts'

test.each([undefined, 'token+/='])('with the session token %j', async (sessionToken) => {
  const credentials = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 's/+ecret',
    ...(sessionToken && { sessionToken }),
  }
  const region = 'eu-central-1'
  const signingDate = new Date('2026-11-28T12:34:56.789Z')
  const url = new URL('https://lambda.eu-central-1.amazonaws.com/2015-03-31/functions/keyplane-dev-a/aliases/live')
  const body = '{"FunctionVersion":"7"}'
  const more = { 'x-amz-invocation-type': 'Event' }
  const signer = new SignatureV4({
    credentials,
    region,
    service: 'lambda',
    sha256: Sha256 as never,
    applyChecksum: false,
  })
  const request = {
    protocol: 'https:',
    hostname: url.hostname,
    method: 'PUT',
    path: url.pathname,
    headers: { 'content-type': 'application/json', host: url.host, ...more },
    body,
  }
  const { host: _, ...expected } = (await signer.sign(request, { signingDate })).headers
  expect(signedHeaders({ method: 'PUT', url, body, now: signingDate, more }, { region, ...credentials })).toEqual(
    expected,
  )
})

test('the endpoint is that of the region, or of the environment', () => {
  expect(connectionOf({ AWS_REGION: 'eu-central-1' }).endpoint).toBe('https://lambda.eu-central-1.amazonaws.com')
  expect(connectionOf({ AWS_REGION: 'cn-north-1' }).endpoint).toBe('https://lambda.cn-north-1.amazonaws.com.cn')
  expect(connectionOf({ AWS_ENDPOINT_URL: 'http://127.0.0.1:1' }).endpoint).toBe('http://127.0.0.1:1')
})

test('a function is invoked without waiting for it, by a request whose signature says so', async () => {
  const requests: [string | undefined, string | undefined, string | undefined][] = []
  const server = createServer((request, response) => {
    const { 'x-amz-invocation-type': type, authorization } = request.headers
    requests.push([request.url, String(type), authorization])
    response.writeHead(requests.length === 1 ? 503 : 202).end()
  })
  const { port, stop } = await listening(server)
  onTestFinished(stop)
  const environment = { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }
  await invokeLater('secrets', connectionOf({ ...environment, AWS_ENDPOINT_URL: `http://127.0.0.1:${port}` }))
  const signed = expect.stringContaining('x-amz-invocation-type')
  const one = ['/2015-03-31/functions/secrets/invocations', 'Event', signed]
  expect(requests).toEqual([one, one])
})
