/** Stores the signing keys that KMS has in AWS, in a file that only its owner can read. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import type { OpenKeys, SigningAlgorithm } from '../../../lib/clusters/token/signingkeys.ts'
import { openStored } from '../host/stored.ts'

interface StoredKey {
  id: string
  /** PKCS#8 DER in base64. */
  material: string
}

interface KeysState {
  keys: StoredKey[]
  /** Pairs of `alias/NAME` and key ID. */
  aliases: [name: string, keyId: string][]
}

export interface LocalKeys {
  open: OpenKeys
  /** Returns the ARN of the key with this alias; creates it when it is missing. The default algorithm is ES256. */
  ensureKey(alias: string, algorithm?: SigningAlgorithm): Promise<string>
}

/** Opens the file, or keeps the keys in memory without a path. Throws a StartupError when the file is damaged. */
export async function openLocalKeys(path: string | undefined, arnPrefix: string): Promise<LocalKeys> {
  const stored = await openStored<KeysState>(path, { keys: [], aliases: [] })

  async function find(reference: string): Promise<KeyObject> {
    const key = stored.state.keys.find(({ id }) => reference === id || reference === arnPrefix + id)
    if (!key) throw new Error('this process has no such key')
    return createPrivateKey({ key: Buffer.from(key.material, 'base64'), format: 'der', type: 'pkcs8' })
  }

  return {
    open: (called) => ({
      async publicKey(id) {
        called()
        return { id, key: createPublicKey(await find(id)) }
      },
      async sign(id, bytes) {
        called()
        return sign('sha256', bytes, { key: await find(id), dsaEncoding: 'ieee-p1363' })
      },
    }),
    ensureKey: (alias, algorithm = 'ES256') =>
      stored.change(({ keys, aliases }) => {
        const known = aliases.find(([name]) => name === alias)
        if (known) return arnPrefix + known[1]
        const id = randomUUID()
        keys.push({ id, material: generateMaterial(algorithm) })
        aliases.push([alias, id])
        return arnPrefix + id
      }),
  }
}

function generateMaterial(algorithm: SigningAlgorithm): string {
  const { privateKey } =
    algorithm === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 })
  return privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
}
