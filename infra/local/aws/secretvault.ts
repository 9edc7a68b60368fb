/**
 * Stores the secrets of the Secrets Manager endpoint: encrypted with a key of the KMS endpoint, bound to their secret and
 * version as in AWS. Keeps the versions that have a staging label.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { openStored, type StateFile } from '../host/stored.ts'
import { AwsError } from './awsjson.ts'
import type { Kms } from './kms.ts'

export interface SecretVersion {
  id: string
  stages: string[]
  /** The member of the request and the response that carries the value. */
  member: 'SecretString' | 'SecretBinary'
  /** The ciphertext in base64. */
  sealed: string
}

/** A value before encryption. */
export type SecretValue = Pick<SecretVersion, 'member'> & { bytes: Buffer }

export interface VaultSecret {
  arn: string
  name: string
  /** Truthy when the secret is marked for deletion. */
  deleted?: unknown
  versions: SecretVersion[]
}

export interface SecretsState {
  secrets: VaultSecret[]
}

export interface SecretVaultOptions {
  /** The file that stores the secrets; in memory when absent. */
  path?: string
  region: string
  /** Twelve digits. */
  account: string
  /** Holds the key of the secrets. */
  kms: Pick<Kms, 'ensureKey' | 'seal' | 'open'>
}

export interface SecretVault {
  stored: StateFile<SecretsState>
  /** Adds a secret without versions to the draft, in place of a deleted one. Throws ResourceExistsException when the name is in use. */
  add(draft: SecretsState, name: string): VaultSecret
  /** Returns the version with the id and the label, by default AWSCURRENT. Throws ResourceNotFoundException. */
  findVersion(
    reference: string,
    wanted: { id?: string; stage?: string },
  ): { secret: VaultSecret; version: SecretVersion }
  /** Returns the secret with this name or ARN, with or without its suffix. Throws for an unknown secret and for one marked for deletion. */
  findSecret(reference: string, state: SecretsState): VaultSecret
  reveal(secret: VaultSecret, version: SecretVersion): Buffer
  /**
   * Adds a version with these labels, by default AWSCURRENT, which the first version has anyway. Repeating an ID with the
   * same value changes nothing; another value is refused.
   */
  put(secret: VaultSecret, id: string, value: SecretValue, stages?: readonly string[]): SecretVersion
  /** Moves a label from one version to another, either of which may be absent. */
  moveStage(secret: VaultSecret, stage: string, move: { from?: string; to?: string }): void
  /** Returns the ARN of the secret with this name; creates it without a value when it is missing. */
  ensureSecret(name: string): Promise<string>
  /** Returns the current text of a secret, or undefined when it has none. */
  currentText(name: string): string | undefined
  /** Makes this the current text, unless it already is. */
  setText(name: string, text: string): Promise<void>
}

/** The alias of AWS's own key for this service. */
const KEY_ALIAS = 'alias/aws/secretsmanager'

const CURRENT = 'AWSCURRENT'

/** Length of the `-` and the six random characters that end an ARN. */
const SUFFIX_LENGTH = 7

const notFound = (what: string): AwsError =>
  new AwsError('ResourceNotFoundException', `Secrets Manager can't find the specified ${what}.`)

const noVersion = (id: string): AwsError => notFound(`secret value for VersionId: ${id}`)

/** Attaches the label to a version, or to none. The version that was current becomes the previous one. */
function label(secret: VaultSecret, stage: string, id: string | undefined): void {
  const before = secret.versions.find(({ stages }) => stages.includes(stage))
  if (before?.id === id) return
  for (const version of secret.versions) {
    version.stages = version.stages.filter((one) => one !== stage)
    if (version.id === id) version.stages = [...version.stages, stage]
  }
  if (stage === CURRENT && before) label(secret, 'AWSPREVIOUS', before.id)
  secret.versions = secret.versions.filter(({ stages }) => stages.length > 0)
}

/** Throws a StartupError when the file is damaged. */
export async function openSecretVault({ path, region, account, kms }: SecretVaultOptions): Promise<SecretVault> {
  const stored = await openStored<SecretsState>(path, { secrets: [] })
  const key = await kms.ensureKey(KEY_ALIAS, 'SYMMETRIC_DEFAULT')

  /** As in AWS, a ciphertext is valid for its own secret and version only. */
  const contextOf = ({ arn }: VaultSecret, id: string) => ({ SecretARN: arn, SecretVersionId: id })

  const reveal: SecretVault['reveal'] = (secret, { id, sealed }) =>
    kms.open(Buffer.from(sealed, 'base64'), contextOf(secret, id))

  const named = ({ secrets }: SecretsState, name: string) => secrets.find((one) => one.name === name && !one.deleted)

  const add: SecretVault['add'] = (draft, name) => {
    if (named(draft, name))
      throw new AwsError('ResourceExistsException', `The operation failed because the secret ${name} already exists.`)
    const arn = `arn:aws:secretsmanager:${region}:${account}:secret:${name}-${randomBytes(3).toString('hex')}`
    const secret: VaultSecret = { arn, name, versions: [] }
    draft.secrets = [...draft.secrets.filter((one) => one.name !== name), secret]
    return secret
  }

  const findSecret: SecretVault['findSecret'] = (reference, { secrets }) => {
    const secret = secrets.find(({ name, arn }) => [name, arn, arn.slice(0, -SUFFIX_LENGTH)].includes(reference))
    if (!secret) throw notFound('secret')
    if (secret.deleted)
      throw new AwsError(
        'InvalidRequestException',
        "You can't perform this operation on the secret because it was marked for deletion.",
      )
    return secret
  }

  const put: SecretVault['put'] = (secret, id, value, stages = [CURRENT]) => {
    const known = secret.versions.find((one) => one.id === id)
    if (known) {
      if (known.member === value.member && reveal(secret, known).equals(value.bytes)) return known
      throw new AwsError(
        'ResourceExistsException',
        `You can't use ClientRequestToken ${id} because that value is already in use for a version of secret ${secret.arn}.`,
      )
    }
    const sealed = kms.seal(key, value.bytes, contextOf(secret, id)).toString('base64')
    const version: SecretVersion = { id, stages: [], member: value.member, sealed }
    const isFirst = secret.versions.length === 0
    secret.versions = [...secret.versions, version]
    for (const stage of isFirst ? new Set([...stages, CURRENT]) : stages) label(secret, stage, id)
    return version
  }

  const moveStage: SecretVault['moveStage'] = (secret, stage, { from, to }) => {
    for (const id of [from, to])
      if (id !== undefined && !secret.versions.some((one) => one.id === id)) throw noVersion(id)
    const holder = secret.versions.find(({ stages }) => stages.includes(stage))
    if (holder && holder.id !== to && holder.id !== from)
      throw new AwsError(
        'InvalidParameterException',
        `The parameter RemoveFromVersionId can't be empty. Staging label ${stage} is currently attached to version ${holder.id}, so you must explicitly reference that version in RemoveFromVersionId.`,
      )
    label(secret, stage, to)
  }

  function currentText(name: string): string | undefined {
    const secret = named(stored.state, name)
    const version = secret?.versions.find(({ stages }) => stages.includes(CURRENT))
    return secret && version && reveal(secret, version).toString('utf8')
  }

  return {
    stored,
    add,
    findSecret,
    findVersion(reference, { id, stage = id === undefined ? CURRENT : undefined }) {
      const secret = findSecret(reference, stored.state)
      const ofStage = secret.versions.filter(({ stages }) => stage === undefined || stages.includes(stage))
      const version = ofStage.find((one) => id === undefined || one.id === id)
      if (version) return { secret, version }
      throw id === undefined ? notFound(`secret value for staging label: ${stage}`) : noVersion(id)
    },
    reveal,
    put,
    moveStage,
    currentText,
    async ensureSecret(name) {
      const secret = named(stored.state, name) ?? (await stored.change((draft) => add(draft, name)))
      return secret.arn
    },
    async setText(name, text) {
      if (currentText(name) === text) return
      await stored.change((draft) => {
        const value: SecretValue = { member: 'SecretString', bytes: Buffer.from(text) }
        put(named(draft, name) ?? add(draft, name), randomUUID(), value)
      })
    },
  }
}
