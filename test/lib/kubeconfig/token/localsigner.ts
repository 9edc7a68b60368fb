/** A signer whose keys are stored in this process, without AWS. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { calculateJwkThumbprint } from 'jose'
import type { PublicKey, Signer } from '../../../../lib/kubeconfig/token/signer.ts'

async function pair(): Promise<{ privateKey: KeyObject; published: PublicKey }> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const jwk = { kty: 'EC', crv: 'P-256', x, y } as const
  return { privateKey, published: { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: 'ES256', use: 'sig' } }
}

export async function localSigner(): Promise<Signer> {
  const first = await pair()
  const second = await pair()
  return {
    keys: async () => [first.published, second.published],
    async sign(kid, bytes) {
      const { privateKey } = kid === first.published.kid ? first : second
      return sign('sha256', bytes, { key: privateKey, dsaEncoding: 'ieee-p1363' })
    },
  }
}
