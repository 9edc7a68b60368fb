/**
 * Signs requests to DynamoDB. The signer of the SDK does the same for every service and request, at a third of the CPU of a read.
 * Source: AWS Identity and Access Management User Guide, "Create a signed AWS API request".
 */
import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto'
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'

type Signer = Extract<DynamoDBClientConfig['signer'], { sign: unknown }>

interface Credentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string | undefined
}

const algorithm = 'AWS4-HMAC-SHA256'

const hmac = (key: Buffer | KeyObject, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** Returns a signer. It derives a key once for each day and secret. */
export function signerFor(region: () => Promise<string>, credentials: () => Promise<Credentials>): Signer {
  let kept: { scope: string; secret: string; key: KeyObject } | undefined
  const keyFor = (secret: string, scope: string): KeyObject => {
    if (kept?.scope !== scope || kept.secret !== secret) {
      const key = createSecretKey(scope.split('/').reduce(hmac, Buffer.from(`AWS4${secret}`)))
      kept = { scope, secret, key }
    }
    return kept.key
  }
  return {
    async sign(request, options) {
      const { accessKeyId, secretAccessKey, sessionToken } = await credentials()
      const time = new Date(options?.signingDate ?? Number.NaN).toISOString().replace(/[:-]|\.\d+/g, '')
      const scope = `${time.slice(0, 8)}/${await region()}/dynamodb/aws4_request`
      const { headers } = request
      headers['x-amz-date'] = time
      if (sessionToken) headers['x-amz-security-token'] = sessionToken
      const signed = [
        'content-type',
        'host',
        'x-amz-date',
        ...(sessionToken ? ['x-amz-security-token'] : []),
        'x-amz-target',
      ]
      const lines = signed.map((name) => `${name}:${headers[name]}\n`).join('')
      const names = signed.join(';')
      const canonical = `${request.method}\n${request.path}\n\n${lines}\n${names}\n${hash('sha256', request.body)}`
      const key = keyFor(secretAccessKey, scope)
      const signature = hmac(key, `${algorithm}\n${time}\n${scope}\n${hash('sha256', canonical)}`).toString('hex')
      headers.authorization = `${algorithm} Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`
      return request
    },
  }
}
