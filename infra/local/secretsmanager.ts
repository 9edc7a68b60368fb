/**
 * The Secrets Manager endpoint of the local server: AWS's own protocol, staging and error names. Values are stored as
 * ciphertexts under a key of the KMS endpoint, bound to their secret and version as in AWS.
 * Source: AWS Secrets Manager API Reference (2017-10-17).
 */
import { randomBytes } from 'node:crypto'
import { flag, integer, text } from './awsinput.ts'
import { type AwsEndpoint, AwsError, type AwsInput, type AwsOperation, serveAwsJson } from './awsjson.ts'
import type { Kms } from './kms.ts'
import {
  nameOf,
  namePrefixes,
  type SecretValue,
  secretId,
  secretValueOf,
  stagesOf,
  tagsOf,
  tokenOf,
} from './secretinput.ts'
import {
  addVersion,
  findLiving,
  findSecret,
  findVersion,
  NO_SECRETS,
  type Secret,
  type SecretsState,
  type SecretVersion,
} from './secretversions.ts'
import { openStored } from './stored.ts'

export interface SecretsManagerOptions {
  /** The file that keeps the secrets; absent = in memory. */
  path?: string
  region: string
  /** Twelve digits. */
  account: string
  /** Unix milliseconds. */
  now: () => number
  /** Where the key of the secrets lies. */
  kms: Pick<Kms, 'ensureKey' | 'seal' | 'open'>
}

/** What AWS's own key for this service is called. */
const KEY_ALIAS = 'alias/aws/secretsmanager'
const DAY = 86_400_000

/** Starts the endpoint. A damaged file is a StartupError. */
export async function startSecretsManager(options: SecretsManagerOptions): Promise<AwsEndpoint> {
  const { path, region, account, now, kms } = options
  const stored = await openStored<SecretsState>(path, NO_SECRETS)
  const key = await kms.ensureKey(KEY_ALIAS, 'SYMMETRIC_DEFAULT')

  const context = ({ arn }: Secret, id: string) => ({ SecretARN: arn, SecretVersionId: id })
  const reveal = (secret: Secret, { id, sealed }: SecretVersion): Buffer =>
    kms.open(Buffer.from(sealed, 'base64'), context(secret, id))

  /** Adds the value under the client's token. The same value under the same token again is no change; another one is refused. */
  function put(secret: Secret, id: string, value: SecretValue, stages: string[]): SecretVersion {
    const known = secret.versions.find((one) => one.id === id)
    if (known) {
      if (known.member === value.member && reveal(secret, known).equals(value.bytes)) return known
      throw new AwsError(
        'ResourceExistsException',
        `You can't use ClientRequestToken ${id} because that value is already in use for a version of secret ${secret.arn}.`,
      )
    }
    const sealed = kms.seal(key, value.bytes, context(secret, id)).toString('base64')
    const version = { id, created: now(), stages, member: value.member, sealed }
    addVersion(secret, version)
    return version
  }

  const living = (input: AwsInput, state: SecretsState = stored.state): Secret =>
    findLiving(state, secretId(input), now())

  const operations: Record<string, AwsOperation> = {
    CreateSecret(input) {
      const name = nameOf(input)
      const token = tokenOf(input)
      const value = secretValueOf(input)
      return stored.change((draft) => {
        draft.secrets = draft.secrets.filter(({ deleted }) => !(deleted && deleted.due <= now()))
        const existing = draft.secrets.find((one) => one.name === name)
        if (existing) {
          if (existing.deleted)
            throw new AwsError(
              'InvalidRequestException',
              "You can't create this secret because a secret with this name is already scheduled for deletion.",
            )
          if (!value || !existing.versions.some(({ id }) => id === token))
            throw new AwsError(
              'ResourceExistsException',
              `The operation failed because the secret ${name} already exists.`,
            )
          return named(existing, put(existing, token, value, ['AWSCURRENT']))
        }
        const created = now()
        const secret: Secret = {
          arn: `arn:aws:secretsmanager:${region}:${account}:secret:${name}-${randomBytes(3).toString('hex')}`,
          name,
          description: text(input, 'Description', 0, 2048) ?? '',
          created,
          changed: created,
          tags: tagsOf(input),
          versions: [],
        }
        draft.secrets.push(secret)
        return named(secret, value && put(secret, token, value, ['AWSCURRENT']))
      })
    },

    GetSecretValue(input) {
      const secret = living(input)
      const version = findVersion(secret, text(input, 'VersionId', 32, 64), text(input, 'VersionStage', 1, 256))
      const plaintext = reveal(secret, version)
      return {
        ARN: secret.arn,
        Name: secret.name,
        VersionId: version.id,
        VersionStages: version.stages,
        CreatedDate: version.created / 1000,
        [version.member]: plaintext.toString(version.member === 'SecretString' ? 'utf8' : 'base64'),
      }
    },

    PutSecretValue(input) {
      const token = tokenOf(input)
      const value = secretValueOf(input)
      const stages = stagesOf(input)
      if (!value) throw new AwsError('InvalidRequestException', 'You must provide either SecretString or SecretBinary.')
      return stored.change((draft) => {
        const secret = living(input, draft)
        const version = put(secret, token, value, stages)
        return { ...named(secret, version), VersionStages: version.stages }
      })
    },

    UpdateSecret(input) {
      const token = tokenOf(input)
      const value = secretValueOf(input)
      const description = text(input, 'Description', 0, 2048)
      return stored.change((draft) => {
        const secret = living(input, draft)
        secret.description = description ?? secret.description
        secret.changed = now()
        return named(secret, value && put(secret, token, value, ['AWSCURRENT']))
      })
    },

    DescribeSecret(input) {
      const secret = findSecret(stored.state, secretId(input), now())
      return { ...described(secret), VersionIdsToStages: labelled(secret) }
    },

    DeleteSecret(input) {
      const force = flag(input, 'ForceDeleteWithoutRecovery')
      const days = integer(input, 'RecoveryWindowInDays', 7, 30)
      if (force && days !== undefined)
        throw new AwsError(
          'InvalidParameterException',
          "You can't use ForceDeleteWithoutRecovery in conjunction with RecoveryWindowInDays.",
        )
      return stored.change((draft) => {
        const secret = living(input, draft)
        const at = now()
        secret.deleted = { at, due: force ? at : at + (days ?? 30) * DAY }
        if (force) draft.secrets.splice(draft.secrets.indexOf(secret), 1)
        return { ARN: secret.arn, Name: secret.name, DeletionDate: secret.deleted.due / 1000 }
      })
    },

    RestoreSecret: (input) =>
      stored.change((draft) => {
        const secret = findSecret(draft, secretId(input), now())
        delete secret.deleted
        return named(secret)
      }),

    ListSecrets(input) {
      const limit = integer(input, 'MaxResults', 1, 100) ?? 100
      const after = text(input, 'NextToken', 1, 4096) ?? ''
      const prefixes = namePrefixes(input)
      const planned = flag(input, 'IncludePlannedDeletion')
      const secrets = stored.state.secrets
        .filter(({ deleted }) => !deleted || (planned && deleted.due > now()))
        .filter(({ name }) => name > after && prefixes.every((any) => any.some((prefix) => name.startsWith(prefix))))
        .sort((a, b) => (a.name < b.name ? -1 : 1))
      const page = secrets.slice(0, limit)
      return {
        SecretList: page.map((secret) => ({ ...described(secret), SecretVersionsToStages: labelled(secret) })),
        ...(secrets.length > limit && { NextToken: page.at(-1)?.name }),
      }
    },
  }

  return serveAwsJson({
    target: 'secretsmanager',
    signingName: 'secretsmanager',
    operations: new Map(Object.entries(operations)),
  })
}

const named = ({ arn, name }: Secret, version?: SecretVersion) => ({
  ARN: arn,
  Name: name,
  ...(version && { VersionId: version.id }),
})

/** What DescribeSecret and ListSecrets have in common; versions without a label are left out, as in AWS. */
const described = ({ arn, name, description, created, changed, deleted, tags }: Secret) => ({
  ARN: arn,
  Name: name,
  ...(description && { Description: description }),
  CreatedDate: created / 1000,
  LastChangedDate: changed / 1000,
  ...(deleted && { DeletedDate: deleted.at / 1000 }),
  Tags: tags,
})

const labelled = ({ versions }: Secret): Record<string, string[]> =>
  Object.fromEntries(versions.filter(({ stages }) => stages.length > 0).map(({ id, stages }) => [id, stages]))
