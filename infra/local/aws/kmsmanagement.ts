/** KMS operations on keys and aliases as such. Source: AWS KMS API Reference. */
import { integer, required, text } from './awsinput.ts'
import { AwsError, type AwsInput, type AwsOperation } from './awsjson.ts'
import type { KmsDirectory } from './kmsdirectory.ts'
import { ALGORITHM, type KeySpec, type KmsKey, makeKey, publicKeyOf, USAGE } from './kmskeys.ts'

export function kmsManagement(directory: KmsDirectory, now: () => number): Record<string, AwsOperation> {
  const { stored, keyArn, aliasArn, find, keyOf, requireEnabled } = directory

  const metadata = (key: KmsKey) => ({
    AWSAccountId: directory.account,
    Arn: keyArn(key.id),
    CreationDate: key.created / 1000,
    CustomerMasterKeySpec: key.spec,
    Description: key.description,
    Enabled: key.enabled,
    [key.spec === 'ECC_NIST_P256' ? 'SigningAlgorithms' : 'EncryptionAlgorithms']: [ALGORITHM[key.spec]],
    KeyId: key.id,
    KeyManager: 'CUSTOMER',
    KeySpec: key.spec,
    KeyState: key.enabled ? 'Enabled' : 'Disabled',
    KeyUsage: USAGE[key.spec],
    MultiRegion: false,
    Origin: 'AWS_KMS',
  })

  const setEnabled = (input: AwsInput, enabled: boolean): Promise<object> =>
    stored.change((draft) => {
      keyOf(input, draft).enabled = enabled
      return {}
    })

  return {
    DescribeKey: (input) => ({ KeyMetadata: metadata(keyOf(input)) }),
    EnableKey: (input) => setEnabled(input, true),
    DisableKey: (input) => setEnabled(input, false),

    async CreateKey(input) {
      const key = makeKey(specOf(input), text(input, 'Description', 0, 8192) ?? '', now())
      await stored.change(({ keys }) => keys.push(key))
      return { KeyMetadata: metadata(key) }
    },

    GetPublicKey(input) {
      const key = keyOf(input)
      requireEnabled(key)
      if (USAGE[key.spec] !== 'SIGN_VERIFY')
        throw new AwsError('UnsupportedOperationException', `${keyArn(key.id)} is symmetric and has no public key.`)
      return {
        KeyId: keyArn(key.id),
        PublicKey: publicKeyOf(key).toString('base64'),
        CustomerMasterKeySpec: key.spec,
        KeySpec: key.spec,
        KeyUsage: USAGE[key.spec],
        SigningAlgorithms: [ALGORITHM[key.spec]],
      }
    },

    CreateAlias(input) {
      const name = required('AliasName', text(input, 'AliasName', 1, 256))
      const target = required('TargetKeyId', text(input, 'TargetKeyId', 1, 2048))
      if (!/^alias\/[\w/-]+$/.test(name))
        throw new AwsError('InvalidAliasNameException', 'An alias is alias/ and letters, digits, /, _ and - after it.')
      if (name.startsWith('alias/aws/'))
        throw new AwsError('NotAuthorizedException', 'The prefix alias/aws/ is reserved for AWS.')
      if (target.includes('alias/'))
        throw new AwsError('ValidationException', 'Aliases must refer to keys. Not aliases')
      return stored.change((draft) => {
        if (draft.aliases.some(([taken]) => taken === name))
          throw new AwsError('AlreadyExistsException', `An alias with the name ${aliasArn(name)} already exists`)
        draft.aliases.push([name, find(target, draft).id])
        return {}
      })
    },

    ListAliases(input) {
      const only = input.KeyId === undefined ? undefined : keyOf(input).id
      const limit = integer(input, 'Limit', 1, 1000) ?? 50
      const marker = text(input, 'Marker', 1, 1024) ?? ''
      const aliases = stored.state.aliases
        .filter(([name, id]) => (only === undefined || id === only) && name > marker)
        .sort(([a], [b]) => (a < b ? -1 : 1))
      const page = aliases.slice(0, limit)
      const truncated = aliases.length > limit
      return {
        Aliases: page.map(([name, id]) => ({ AliasName: name, AliasArn: aliasArn(name), TargetKeyId: id })),
        ...(truncated && { NextMarker: page.at(-1)?.[0] }),
        Truncated: truncated,
      }
    },
  }
}

/** KeySpec and KeyUsage must agree; only a symmetric key may leave the usage out. */
function specOf(input: AwsInput): KeySpec {
  const spec = text(input, 'KeySpec', 1, 64) ?? text(input, 'CustomerMasterKeySpec', 1, 64) ?? 'SYMMETRIC_DEFAULT'
  const usage = text(input, 'KeyUsage', 1, 64)
  if (spec !== 'SYMMETRIC_DEFAULT' && spec !== 'ECC_NIST_P256')
    throw new AwsError('UnsupportedOperationException', `KeySpec ${spec} is not supported by this endpoint.`)
  if (usage === undefined && spec !== 'SYMMETRIC_DEFAULT')
    throw new AwsError('ValidationException', 'You must specify a KeyUsage value for an asymmetric CMK.')
  if (usage !== undefined && usage !== USAGE[spec])
    throw new AwsError('ValidationException', `KeyUsage ${usage} is not compatible with KeySpec ${spec}`)
  return spec
}
