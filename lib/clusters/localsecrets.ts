/** Opens the secrets of this process. */
import { provided } from '../engine/meta/provided.ts'
import { type OpenTexts, SecretError } from './secrets.ts'

/** What the process provides. Its errors are those of the machine, because each bundle has a SecretError of its own. */
export interface LocalSecrets {
  /** Returns undefined when there is no such secret, or it has no text. */
  read(id: string): Promise<string | undefined>
  /** Returns false when there is no such secret. */
  put(id: string, text: string): Promise<boolean>
}

/** The name under which it is provided. */
export const SECRETS = 'secrets'

export const openTexts: OpenTexts = (called) => {
  const secrets = provided<LocalSecrets>(SECRETS)
  const answered = async <T>(answer: Promise<T>, isFound: (value: T) => boolean): Promise<T> => {
    called()
    const value = await answer.catch((cause: unknown) => {
      throw new SecretError('Unavailable', cause)
    })
    if (isFound(value)) return value
    throw new SecretError('NotFound', new Error('this process has no such secret'))
  }
  return {
    read: async (id) => (await answered(secrets.read(id), (text) => text !== undefined)) ?? '',
    put: async (id, text) => void (await answered(secrets.put(id, text), Boolean)),
  }
}
