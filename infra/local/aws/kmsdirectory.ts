/** How KMS calls name keys: by id, ARN, alias or alias ARN. */

import type { Stored } from '../host/stored.ts'
import { required, text } from './awsinput.ts'
import { AwsError, type AwsInput } from './awsjson.ts'
import type { KmsKey, KmsState } from './kmskeys.ts'

export interface KmsDirectory {
  stored: Stored<KmsState>
  account: string
  keyArn(id: string): string
  /** Takes `alias/NAME`. */
  aliasArn(alias: string): string
  /** Throws NotFoundException. `state` is the draft, inside a change. */
  find(reference: string, state?: KmsState): KmsKey
  /** The key of the member KeyId. */
  keyOf(input: AwsInput, state?: KmsState): KmsKey
  /** Throws DisabledException. */
  requireEnabled(key: KmsKey): void
}

export function kmsDirectory(stored: Stored<KmsState>, region: string, account: string): KmsDirectory {
  const prefix = `arn:aws:kms:${region}:${account}:`
  const keyArn = (id: string): string => `${prefix}key/${id}`
  const aliasArn = (alias: string): string => `${prefix}${alias}`

  function find(reference: string, { keys, aliases }: KmsState = stored.state): KmsKey {
    if (reference.startsWith('arn:') && !reference.startsWith(prefix))
      throw new AwsError('NotFoundException', `Invalid arn: it is not one of ${prefix}*`)
    const name = reference.startsWith(prefix) ? reference.slice(prefix.length) : reference
    const isAlias = name.startsWith('alias/')
    const id = isAlias ? aliases.find(([alias]) => alias === name)?.[1] : name.replace(/^key\//, '')
    const key = keys.find((one) => one.id === id)
    if (key) return key
    throw new AwsError(
      'NotFoundException',
      isAlias ? `Alias ${aliasArn(name)} is not found.` : `Key '${keyArn(id ?? '')}' does not exist`,
    )
  }

  return {
    stored,
    account,
    keyArn,
    aliasArn,
    find,
    keyOf: (input, state) => find(required('KeyId', text(input, 'KeyId', 1, 2048)), state),
    requireEnabled(key) {
      if (!key.enabled) throw new AwsError('DisabledException', `${keyArn(key.id)} is disabled.`)
    },
  }
}
