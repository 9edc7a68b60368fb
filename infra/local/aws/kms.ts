/**
 * The KMS endpoint of the local server: AWS's own protocol, checks and error names, so that the SDK's client is the client.
 * Keys: ECC_NIST_P256 for signing, SYMMETRIC_DEFAULT for encryption. Source: AWS KMS API Reference (2014-11-01).
 */

import { openStored } from '../host/stored.ts'
import { flag } from './awsinput.ts'
import { type AwsEndpoint, AwsError, type AwsOperation, serveAwsJson } from './awsjson.ts'
import { decrypt, kmsCryptography } from './kmscryptography.ts'
import { kmsDirectory } from './kmsdirectory.ts'
import { type EncryptionContext, encryptWith, type KeySpec, type KmsState, makeKey, NO_KEYS } from './kmskeys.ts'
import { kmsManagement } from './kmsmanagement.ts'
import type { VerifySignature } from './signature.ts'

export interface KmsOptions {
  /** The file that keeps the keys (mode 0600); absent = in memory. */
  path?: string
  region: string
  /** Twelve digits. */
  account: string
  /** Unix milliseconds. */
  now: () => number
  verify: VerifySignature
}

/** Far above the largest call (4096 bytes in base64). */
const MAX_BODY_BYTES = 64 * 1024

export interface Kms extends AwsEndpoint {
  /** The ARN of the key behind `alias/NAME`; makes both when they are missing. */
  ensureKey(alias: string, spec: KeySpec): Promise<string>
  /** Encrypts without the API's limit of 4096 bytes: for the secret store. `key` is an id, ARN or alias. */
  seal(key: string, plaintext: Uint8Array, context: EncryptionContext): Buffer
  /** The reverse of seal; throws an AwsError. */
  open(ciphertext: Uint8Array, context: EncryptionContext): Buffer
}

/** Starts the endpoint. A damaged file is a StartupError. */
export async function startKms({ path, region, account, now, verify }: KmsOptions): Promise<Kms> {
  const stored = await openStored<KmsState>(path, NO_KEYS)
  const directory = kmsDirectory(stored, region, account)
  const operations = { ...kmsManagement(directory, now), ...kmsCryptography(directory) }
  const service = {
    target: 'TrentService',
    signingName: 'kms',
    operations: new Map(Object.entries(operations).map(([name, run]) => [name, withoutDryRun(run)])),
    maxBodyBytes: MAX_BODY_BYTES,
  }
  const endpoint = await serveAwsJson(service, verify)

  return {
    ...endpoint,
    seal: (key, plaintext, context) => encryptWith(directory.find(key), plaintext, context),
    open: (ciphertext, context) => decrypt(directory, ciphertext, context),
    async ensureKey(alias, spec) {
      const known = stored.state.aliases.find(([name]) => name === alias)
      if (known) return directory.keyArn(known[1])
      const key = makeKey(spec, '', now())
      await stored.change(({ keys, aliases }) => {
        keys.push(key)
        aliases.push([alias, key.id])
      })
      return directory.keyArn(key.id)
    },
  }
}

/** A dry run is refused rather than run. */
const withoutDryRun =
  (run: AwsOperation): AwsOperation =>
  (input) => {
    if (flag(input, 'DryRun'))
      throw new AwsError('UnsupportedOperationException', 'DryRun is not supported by this endpoint.')
    return run(input)
  }
