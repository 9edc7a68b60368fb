/** Signs requests to DynamoDB in place of the signer of the SDK. */
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { type AwsCredentials, signatures } from '../../outbound/awssignature.ts'

type Signer = Extract<DynamoDBClientConfig['signer'], { sign: unknown }>

/** Returns a signer. */
export function signerFor(region: () => Promise<string>, credentials: () => Promise<AwsCredentials>): Signer {
  const sign = signatures('dynamodb', ['x-amz-target'])
  return {
    async sign(request, options) {
      const { method, path, headers, body } = request
      const date = new Date(options?.signingDate ?? Number.NaN)
      const given = await credentials()
      sign({ method, path, headers, body }, date, await region(), given)
      return request
    },
  }
}
