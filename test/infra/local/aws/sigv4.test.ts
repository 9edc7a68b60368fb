import { createHash } from 'node:crypto'
import { CreateSecretCommand } from '@aws-sdk/client-secrets-manager'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Aws, region, startAws } from '../../../support/aws.ts'
import { callSigned, type SignedCall } from '../../../support/sigv4client.ts'

let aws: Aws
beforeAll(async () => {
  aws = await startAws()
  await aws.secrets.send(new CreateSecretCommand({ Name: 'signed', SecretString: 'one' }))
})
afterAll(async () => {
  await aws.stop()
})

const calls = {
  kms: () => ({
    endpoint: aws.endpoints.kms,
    service: 'kms',
    target: 'TrentService.CreateKey',
    body: '{"KeySpec":"ECC_NIST_P256","KeyUsage":"SIGN_VERIFY"}',
  }),
  secretsmanager: () => ({
    endpoint: aws.endpoints.secretsManager,
    service: 'secretsmanager',
    target: 'secretsmanager.GetSecretValue',
    body: '{"SecretId":"signed"}',
  }),
  events: () => ({
    endpoint: aws.endpoints.eventBridge,
    service: 'events',
    target: 'AWSEvents.PutEvents',
    body: '{"Entries":[{"Source":"a","DetailType":"b","Detail":"{}"}]}',
  }),
}

const zeros = (name: string, day: string) =>
  `AWS4-HMAC-SHA256 Credential=local/${day}/${region}/${name}/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature=${'0'.repeat(64)}`
const compact = (date: Date) => date.toISOString().replace(/[-:]|\.\d+/g, '')
const today = () => compact(new Date()).slice(0, 8)
const minutes = (n: number) => new Date(Date.now() + n * 60_000)

describe.each(['kms', 'secretsmanager', 'events'] as const)('%s', (name) => {
  test('accepts calls signed with the generated secret', async () => {
    expect(await callSigned(calls[name]())).toMatchObject({ status: 200 })
    expect(await callSigned({ ...calls[name](), signingDate: minutes(-4) })).toMatchObject({ status: 200 })
  })

  const refusals: [string, () => Partial<SignedCall>, string][] = [
    ['no signature', () => ({ sent: { headers: { authorization: undefined } } }), 'MissingAuthenticationToken'],
    ['another scheme', () => ({ sent: { headers: { authorization: 'Basic bG9jYWw6' } } }), 'IncompleteSignature'],
    [
      'an invented signature',
      () => ({ sent: { headers: { authorization: zeros(name, today()) } } }),
      'InvalidSignature',
    ],
    ['another secret', () => ({ secretAccessKey: 'test' }), 'InvalidSignature'],
    ['no secret', () => ({ secretAccessKey: '' }), 'InvalidSignature'],
    ['another access key', () => ({ accessKeyId: 'AKIAIOSFODNN7EXAMPLE' }), 'UnrecognizedClient'],
    ['another service', () => ({ service: 's3' }), 'InvalidSignature'],
    ['another region', () => ({ region: 'us-east-1' }), 'InvalidSignature'],
    ['an old date', () => ({ signingDate: minutes(-6) }), 'InvalidSignature'],
    ['a future date', () => ({ signingDate: minutes(6) }), 'InvalidSignature'],
    ['no date', () => ({ sent: { headers: { 'x-amz-date': undefined } } }), 'InvalidSignature'],
    ['a newer date', () => ({ sent: { headers: { 'x-amz-date': compact(minutes(1)) } } }), 'InvalidSignature'],
    ['an invalid date', () => ({ sent: { headers: { 'x-amz-date': '20269999T999999Z' } } }), 'InvalidSignature'],
    ['another body', () => ({ sent: { body: '{"Limit":1}' } }), 'InvalidSignature'],
    [
      'another body and its hash',
      () => ({
        sent: { body: '{ }', headers: { 'x-amz-content-sha256': createHash('sha256').update('{ }').digest('hex') } },
      }),
      'InvalidSignature',
    ],
    ['a body outside', () => ({ headers: { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } }), 'InvalidSignature'],
    ['another operation', () => ({ sent: { headers: { 'x-amz-target': 'x.y' } } }), 'InvalidSignature'],
    ['an unsigned operation', () => ({ target: '', sent: { headers: { 'x-amz-target': 'x.y' } } }), 'InvalidSignature'],
    ['an unsigned header of AWS', () => ({ sent: { headers: { 'x-amz-more': 'x' } } }), 'InvalidSignature'],
    ['another host', () => ({ sent: { headers: { host: 'example.com' } } }), 'InvalidSignature'],
    ['a missing header', () => ({ headers: { a: 'b' }, sent: { headers: { a: undefined } } }), 'InvalidSignature'],
    ['another path', () => ({ sent: { path: '/x' } }), 'InvalidSignature'],
    ['a query', () => ({ sent: { path: '/?x=y' } }), 'InvalidSignature'],
    ['another method', () => ({ sent: { method: 'PUT' } }), 'InvalidSignature'],
  ]
  test.each(refusals)('refuses %s', async (_, change, error) => {
    const { status, json } = await callSigned({ ...calls[name](), ...change() })
    expect([status, json.__type]).toEqual([400, `${error}Exception`])
  })
})
