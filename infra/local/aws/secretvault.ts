/**
 * Stores the secrets of the Secrets Manager endpoint, in a file that only its owner can read. Keeps the versions that have a
 * staging label. AWS encrypts what it stores with a key that it holds elsewhere; here the key would lie beside the secrets.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { ofAnotherRelease } from '../host/fileproblem.ts'
import { openStored, type StateFile } from '../host/stored.ts'
import { AwsError } from './awsjson.ts'

export interface SecretVersion {
  id: string
  stages: string[]
  /** The member of the request and the response that carries the value. */
  member: 'SecretString' | 'SecretBinary'
  /** In base64. */
  value: string
}

export type SecretValue = Pick<SecretVersion, 'member' | 'value'>

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

/** Throws a StartupError when the file is damaged, or was written by release 0.1, which encrypted the values. */
export async function openSecretVault({ path, region, account }: SecretVaultOptions): Promise<SecretVault> {
  const stored = await openStored<SecretsState>(path, { secrets: [] })
  const versions = stored.state.secrets.flatMap((secret) => secret.versions)
  if (path !== undefined && versions.some(({ value }) => typeof value !== 'string')) throw ofAnotherRelease(path)

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
      if (known.member === value.member && known.value === value.value) return known
      throw new AwsError(
        'ResourceExistsException',
        `You can't use ClientRequestToken ${id} because that value is already in use for a version of secret ${secret.arn}.`,
      )
    }
    const version: SecretVersion = { id, stages: [], ...value }
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
    const version = named(stored.state, name)?.versions.find(({ stages }) => stages.includes(CURRENT))
    return version && Buffer.from(version.value, 'base64').toString('utf8')
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
        const value: SecretValue = { member: 'SecretString', value: Buffer.from(text).toString('base64') }
        put(named(draft, name) ?? add(draft, name), randomUUID(), value)
      })
    },
  }
}
