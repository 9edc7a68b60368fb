/**
 * Stores the secrets that Secrets Manager has in AWS, in a file that only its owner can read. AWS encrypts what it stores with a key that
 * it holds elsewhere; here the key would lie beside the secrets.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import type { LocalSecrets } from '../../../lib/clusters/localsecrets.ts'
import { openStored } from '../host/stored.ts'

/** A secret in the form of AWS, of which only the current text is kept. */
interface Secret {
  arn: string
  name: string
  versions: { id: string; stages: string[]; member: 'SecretString'; value: string }[]
}

interface SecretsState {
  secrets: Secret[]
}

export interface SecretStore extends LocalSecrets {
  /** Returns the ARN of the secret with this name; creates it without a text when it is missing. */
  ensureSecret(name: string): Promise<string>
  /** Makes this the text of the secret, which it creates when it is missing. */
  setText(name: string, text: string): Promise<void>
}

const CURRENT = 'AWSCURRENT'

/** Opens the file, or keeps the secrets in memory without a path. Throws a StartupError when the file is damaged. */
export async function openSecretStore(path: string | undefined, arnPrefix: string): Promise<SecretStore> {
  const stored = await openStored<SecretsState>(path, { secrets: [] })

  const find = (id: string, { secrets }: SecretsState) => secrets.find(({ name, arn }) => name === id || arn === id)

  function add(draft: SecretsState, name: string): Secret {
    const secret = { arn: `${arnPrefix}${name}-${randomBytes(3).toString('hex')}`, name, versions: [] }
    draft.secrets.push(secret)
    return secret
  }

  function give(secret: Secret, text: string): void {
    const value = Buffer.from(text).toString('base64')
    secret.versions = [{ id: randomUUID(), stages: [CURRENT], member: 'SecretString', value }]
  }

  async function read(id: string): Promise<string | undefined> {
    const version = find(id, stored.state)?.versions.find(({ stages }) => stages.includes(CURRENT))
    return version && Buffer.from(version.value, 'base64').toString('utf8')
  }

  return {
    read,
    put: (id, text) =>
      stored.change((draft) => {
        const secret = find(id, draft)
        if (secret) give(secret, text)
        return secret !== undefined
      }),
    ensureSecret: (name) => stored.change((draft) => (find(name, draft) ?? add(draft, name)).arn),
    async setText(name, text) {
      if ((await read(name)) !== text) await stored.change((draft) => give(find(name, draft) ?? add(draft, name), text))
    },
  }
}
