/** A signer with two keys of this process. The first one signs. */
import { openLocalKeys } from '../../../../infra/local/aws/signingkeys.ts'
import { createSigner, type Signer } from '../../../../lib/clusters/token/signer.ts'
import type { SigningAlgorithm } from '../../../../lib/clusters/token/signingkeys.ts'

export async function localSigner(
  first: SigningAlgorithm = 'ES256',
  second: SigningAlgorithm = 'ES256',
): Promise<Signer> {
  const { open, ensureKey } = await openLocalKeys(undefined, 'arn:key/')
  const ids = [await ensureKey('alias/first', first), await ensureKey('alias/second', second)] as const
  const keys = open(() => {})
  return createSigner([...ids], () => keys)
}
