/**
 * The Secrets Manager endpoint of the local server: AWS's own protocol, staging and error names. Values are stored as
 * ciphertexts under a key of the KMS endpoint, bound to their secret and version as in AWS.
 * Source: AWS Secrets Manager API Reference (2017-10-17).
 */
import { flag, integer, text } from './awsinput.ts'
import { type AwsEndpoint, AwsError, type AwsInput, type AwsOperation, serveAwsJson } from './awsjson.ts'
import { nameOf, namePrefixes, secretId, secretValueOf, stagesOf, tagsOf, tokenOf } from './secretinput.ts'
import { openSecretVault, type SecretVault, type SecretVaultOptions } from './secretvault.ts'
import {
  findLiving,
  findSecret,
  findVersion,
  type Secret,
  type SecretsState,
  type SecretVersion,
} from './secretversions.ts'
import type { VerifySignature } from './signature.ts'

export type SecretsManager = AwsEndpoint & Pick<SecretVault, 'ensureSecret' | 'currentText' | 'setText'>

const DAY = 86_400_000

/** Far above the largest call (a secret of 64 KiB in base64). */
const MAX_BODY_BYTES = 1024 * 1024

/** Starts the endpoint. A damaged file is a StartupError. */
export async function startSecretsManager({
  verify,
  ...options
}: SecretVaultOptions & { verify: VerifySignature }): Promise<SecretsManager> {
  const vault = await openSecretVault(options)
  const { ensureSecret, currentText, setText } = vault
  const operations = new Map(Object.entries(operationsOf(vault)))
  const service = { target: 'secretsmanager', signingName: 'secretsmanager', operations, maxBodyBytes: MAX_BODY_BYTES }
  const endpoint = await serveAwsJson(service, verify)
  return { ...endpoint, ensureSecret, currentText, setText }
}

function operationsOf({ stored, now, reveal, add, put }: SecretVault): Record<string, AwsOperation> {
  const living = (input: AwsInput, state: SecretsState = stored.state): Secret =>
    findLiving(state, secretId(input), now())

  return {
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
        const secret = add(draft, name, text(input, 'Description', 0, 2048), tagsOf(input))
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
