/** The secrets behind the Secrets Manager endpoint: sealed before they are stored, opened only to be handed out. */
import { randomBytes, randomUUID } from 'node:crypto'
import { openStored, type Stored } from '../host/stored.ts'
import { AwsError } from './awsjson.ts'
import type { Kms } from './kms.ts'
import type { SecretValue } from './secretinput.ts'
import { addVersion, NO_SECRETS, type Secret, type SecretsState, type SecretVersion } from './secretversions.ts'

export interface SecretVaultOptions {
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

export interface SecretVault {
  stored: Stored<SecretsState>
  now(): number
  reveal(secret: Secret, version: SecretVersion): Buffer
  /** Adds a secret without versions to the draft. */
  add(draft: SecretsState, name: string, description?: string, tags?: Secret['tags']): Secret
  /** Adds the value as version `id`. The same value under the same id again is no change; another one is refused. */
  put(secret: Secret, id: string, value: SecretValue, stages: string[]): SecretVersion
  /** The ARN of the secret of this name; makes it, without a value, when it is missing. */
  ensureSecret(name: string): Promise<string>
  /** The current text of a secret; undefined when it has none. */
  currentText(name: string): string | undefined
  /** Makes this the current text, unless it is already. */
  setText(name: string, text: string): Promise<void>
}

/** What AWS's own key for this service is called. */
const KEY_ALIAS = 'alias/aws/secretsmanager'

/** Throws a StartupError for a damaged file. */
export async function openSecretVault({ path, region, account, now, kms }: SecretVaultOptions): Promise<SecretVault> {
  const stored = await openStored<SecretsState>(path, NO_SECRETS)
  const key = await kms.ensureKey(KEY_ALIAS, 'SYMMETRIC_DEFAULT')

  /** As in AWS: a ciphertext is good for its own secret and version only. */
  const context = ({ arn }: Secret, id: string) => ({ SecretARN: arn, SecretVersionId: id })

  const reveal: SecretVault['reveal'] = (secret, { id, sealed }) =>
    kms.open(Buffer.from(sealed, 'base64'), context(secret, id))

  const add: SecretVault['add'] = (draft, name, description = '', tags = []) => {
    const arn = `arn:aws:secretsmanager:${region}:${account}:secret:${name}-${randomBytes(3).toString('hex')}`
    const secret: Secret = { arn, name, description, created: now(), changed: now(), tags, versions: [] }
    draft.secrets.push(secret)
    return secret
  }

  const put: SecretVault['put'] = (secret, id, value, stages) => {
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

  const living = ({ secrets }: SecretsState, name: string) => secrets.find((one) => one.name === name && !one.deleted)

  function currentText(name: string): string | undefined {
    const secret = living(stored.state, name)
    const version = secret?.versions.find(({ stages }) => stages.includes('AWSCURRENT'))
    return secret && version && reveal(secret, version).toString('utf8')
  }

  return {
    stored,
    now,
    reveal,
    add,
    put,
    currentText,
    async ensureSecret(name) {
      const secret = living(stored.state, name) ?? (await stored.change((draft) => add(draft, name)))
      return secret.arn
    },
    async setText(name, text) {
      if (currentText(name) === text) return
      await stored.change((draft) => {
        const value: SecretValue = { member: 'SecretString', bytes: Buffer.from(text) }
        put(living(draft, name) ?? add(draft, name), randomUUID(), value, ['AWSCURRENT'])
      })
    },
  }
}
