/** Tests that signatures of requests to the table are those of the SDK's signer. */
import { SignatureV4 } from '@smithy/signature-v4'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { signerFor } from '../../../../../lib/engine/storage/dynamodb/signer.ts'
import { runs } from '../../../../support/effort.ts'
import { Sha256 } from '../../../../support/sdkhash.ts'

const requestWith = (target: string, body: string) => ({
  protocol: 'https:',
  hostname: 'dynamodb.eu-central-1.amazonaws.com',
  method: 'POST',
  path: '/',
  headers: {
    'content-type': 'application/x-amz-json-1.0',
    host: 'dynamodb.eu-central-1.amazonaws.com',
    'x-amz-target': `DynamoDB_20120810.${target}`,
  } as Record<string, string>,
  body,
})

const text = fc.string({ minLength: 1, maxLength: 40 })
const credentials = fc.record({
  accessKeyId: fc.stringMatching(/^[A-Z0-9]{16,20}$/),
  secretAccessKey: text,
  sessionToken: fc.option(fc.stringMatching(/^[\w/+=]{1,60}$/), { nil: undefined }),
})
const call = fc.record({
  date: fc.date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true }),
  target: fc.constantFrom('GetItem', 'TransactWriteItems'),
  body: fc.string({ unit: 'grapheme' }),
})

test('a signature is that of the SDK, also after midnight and with other credentials', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(credentials, call), { minLength: 1, maxLength: 4 }), async (calls) => {
      let own = calls[0]?.[0] ?? { accessKeyId: '', secretAccessKey: '' }
      const region = 'eu-central-1'
      const signer = signerFor(
        async () => region,
        async () => own,
      )
      for (const [given, { date, target, body }] of calls) {
        own = given
        const theirs = new SignatureV4({
          credentials: given as never,
          region,
          service: 'dynamodb',
          sha256: Sha256 as never,
          applyChecksum: false,
        })
        const expected = await theirs.sign({ ...requestWith(target, body), query: {} } as never, { signingDate: date })
        const signed: unknown = await signer.sign(requestWith(target, body) as never, { signingDate: date })
        expect(signed).toMatchObject({ headers: (expected as unknown as { headers: object }).headers })
      }
    }),
    runs(200),
  )
})
