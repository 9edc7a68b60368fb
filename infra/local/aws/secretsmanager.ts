/**
 * Serves the Secrets Manager operations that keyplane and its guides use, over AWS's own protocol and with its error names.
 * Source: AWS Secrets Manager API Reference (2017-10-17).
 */
import { bytesMember, requireMember, textMember, textsMember } from './awsinput.ts'
import {
  type AwsEndpoint,
  AwsError,
  type AwsInput,
  type AwsOperation,
  serveAwsJson,
  type VerifySignature,
} from './awsjson.ts'
import { openSecretVault, type SecretValue, type SecretVault, type SecretVaultOptions } from './secretvault.ts'

export type SecretsManager = AwsEndpoint & Pick<SecretVault, 'ensureSecret' | 'currentText' | 'setText'>

/** Far above the largest call: a secret of 64 KiB in base64. */
const MAX_BODY_BYTES = 1024 * 1024
const MAX_VALUE_BYTES = 65_536

/** Starts the endpoint. Throws a StartupError when the file is damaged. */
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

const operationsOf = ({
  stored,
  add,
  findSecret,
  findVersion,
  put,
  moveStage,
}: SecretVault): Record<string, AwsOperation> => ({
  CreateSecret(input) {
    const name = nameOf(input)
    const token = tokenOf(input)
    const value = secretValueOf(input)
    return stored.change((draft) => {
      const secret = add(draft, name)
      if (value) put(secret, token, value)
      return { ARN: secret.arn, Name: name, ...(value && { VersionId: token }) }
    })
  },

  GetSecretValue(input) {
    const id = versionOf(input, 'VersionId')
    const stage = textMember(input, 'VersionStage', 1, 256)
    const { secret, version } = findVersion(secretId(input), { ...(id && { id }), ...(stage && { stage }) })
    return {
      ARN: secret.arn,
      Name: secret.name,
      VersionId: version.id,
      VersionStages: version.stages,
      [version.member]:
        version.member === 'SecretString' ? Buffer.from(version.value, 'base64').toString('utf8') : version.value,
    }
  },

  PutSecretValue(input) {
    const token = tokenOf(input)
    const value = secretValueOf(input)
    if (!value) throw new AwsError('InvalidRequestException', 'You must provide either SecretString or SecretBinary.')
    const labels = textsMember(input, 'VersionStages', { most: 20, min: 1, max: 256 })
    return stored.change((draft) => {
      const secret = findSecret(secretId(input), draft)
      const { stages } = put(secret, token, value, labels)
      return { ARN: secret.arn, Name: secret.name, VersionId: token, VersionStages: stages }
    })
  },

  DescribeSecret(input) {
    const secret = findSecret(secretId(input), stored.state)
    const stages = secret.versions.map(({ id, stages }) => [id, stages])
    return { ARN: secret.arn, Name: secret.name, VersionIdsToStages: Object.fromEntries(stages) }
  },

  UpdateSecretVersionStage(input) {
    const stage = requireMember('VersionStage', textMember(input, 'VersionStage', 1, 256))
    const [from, to] = [versionOf(input, 'RemoveFromVersionId'), versionOf(input, 'MoveToVersionId')]
    return stored.change((draft) => {
      const secret = findSecret(secretId(input), draft)
      moveStage(secret, stage, { ...(from && { from }), ...(to && { to }) })
      return { ARN: secret.arn, Name: secret.name }
    })
  },

  /** Marks the secret for deletion. The name can be used again at once: there is no recovery window. */
  DeleteSecret: (input) =>
    stored.change((draft) => {
      const secret = findSecret(secretId(input), draft)
      secret.deleted = true
      return { ARN: secret.arn, Name: secret.name }
    }),
})

const secretId = (input: AwsInput): string => requireMember('SecretId', textMember(input, 'SecretId', 1, 2048))

function nameOf(input: AwsInput): string {
  const name = requireMember('Name', textMember(input, 'Name', 1, 512))
  if (/^[A-Za-z0-9/_+=.@-]+$/.test(name)) return name
  throw new AwsError(
    'ValidationException',
    'Invalid name. Must be a valid name containing alphanumeric characters, or any of the following: -/_+=.@!',
  )
}

const versionOf = (input: AwsInput, name: string): string | undefined => textMember(input, name, 32, 64)

/** Becomes the version's ID. SDK clients generate one for every call. */
const tokenOf = (input: AwsInput): string =>
  requireMember('ClientRequestToken', textMember(input, 'ClientRequestToken', 32, 64))

/** Returns undefined when the call carries no value. */
function secretValueOf(input: AwsInput): SecretValue | undefined {
  const string = textMember(input, 'SecretString', 1, MAX_VALUE_BYTES)
  const binary = bytesMember(input, 'SecretBinary', 1, MAX_VALUE_BYTES)
  if (string !== undefined && binary !== undefined)
    throw new AwsError(
      'InvalidParameterException',
      "You can't specify both a binary secret value and a string secret value in the same secret.",
    )
  if (binary !== undefined) return { member: 'SecretBinary', value: binary.toString('base64') }
  if (string === undefined) return undefined
  const encoded = Buffer.from(string)
  if (encoded.length > MAX_VALUE_BYTES)
    throw new AwsError('ValidationException', `SecretString must not exceed ${MAX_VALUE_BYTES} bytes.`)
  return { member: 'SecretString', value: encoded.toString('base64') }
}
