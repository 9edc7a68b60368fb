/** Tests that presigned addresses are those of the SDK. */
import { SignatureV4 } from '@smithy/signature-v4'
import { expect, test } from 'vitest'
import { presignedUrl } from '../../../../lib/engine/outbound/awssignature.ts'
import { Sha256 } from '../../../support/sdkhash.ts'

test.each([undefined, "token+/=!'()* ~"])('presigns an address with the session token %j', async (sessionToken) => {
  const credentials = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 's/+ecret',
    ...(sessionToken && { sessionToken }),
  }
  const date = new Date('2026-11-28T12:34:56.789Z')
  const [region, service, host] = ['eu-central-1', 'sts', 'sts.eu-central-1.amazonaws.com']
  const query = { Action: 'GetCallerIdentity', Version: '2011-06-15' }
  const headers = { 'x-k8s-aws-id': 'prod_1' }
  const signer = new SignatureV4({ credentials, region, service, sha256: Sha256 as never, applyChecksum: false })
  const presigned = await signer.presign(
    { protocol: 'https:', hostname: host, method: 'GET', path: '/', query, headers: { host, ...headers } } as never,
    { signingDate: date, expiresIn: 60, unhoistableHeaders: new Set(['x-k8s-aws-id']) },
  )
  const url = new URL(presignedUrl({ service, region, host, query, headers, seconds: 60 }, date, credentials))
  expect([url.origin, url.pathname]).toEqual([`https://${host}`, '/'])
  expect(Object.fromEntries(url.searchParams)).toEqual(presigned.query)
  expect(url.searchParams.get('X-Amz-SignedHeaders')).toBe('host;x-k8s-aws-id')
})
