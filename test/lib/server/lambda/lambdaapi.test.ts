/** Tests that signatures of requests to Lambda are those of the SDK's signer. */
import { SignatureV4 } from '@smithy/signature-v4'
import { expect, test } from 'vitest'
import { connectionOf, signedHeaders } from '../../../../lib/server/lambda/lambdaapi.ts'
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
    headers: { 'content-type': 'application/json', host: url.host },
    body,
  }
  const { host: _, ...expected } = (await signer.sign(request, { signingDate })).headers
  expect(signedHeaders({ method: 'PUT', url, body, now: signingDate }, { region, ...credentials })).toEqual(expected)
})

test('the endpoint is that of the region, or of the environment', () => {
  expect(connectionOf({ AWS_REGION: 'eu-central-1' }).endpoint).toBe('https://lambda.eu-central-1.amazonaws.com')
  expect(connectionOf({ AWS_REGION: 'cn-north-1' }).endpoint).toBe('https://lambda.cn-north-1.amazonaws.com.cn')
  expect(connectionOf({ AWS_ENDPOINT_URL: 'http://127.0.0.1:1' }).endpoint).toBe('http://127.0.0.1:1')
})
