/** Makes the environment of a command that gets a narrow key: without everything else from which a credential can come. */
import { givesCredential, givesIdToken, isKeyVariable } from '../../../core/src/credentialvariables.ts'
import { UsageError } from '../io/errors.ts'
import { withoutSecrets } from '../rotation/redact.ts'

/** Throws a UsageError for a variable that would hand the key of the caller to the command. */
export function demandKeepable(names: readonly string[]): void {
  const own = names.find((name) => isKeyVariable(name.toUpperCase()))
  if (own === undefined) return
  throw new UsageError(`--keep ${own} would hand over your own credential.`, 'The command gets one of its own.')
}

/** Returns the environment with the variables of the narrow key, and without what gives another credential, unless it is kept. */
export function narrowEnvironment(
  env: NodeJS.ProcessEnv,
  {
    own,
    keep,
    secrets,
  }: { own: Readonly<Record<string, string>>; keep: readonly string[]; secrets: readonly string[] },
): NodeJS.ProcessEnv {
  const isLeft = ([name, value = '']: [string, string | undefined]) =>
    keep.includes(name) || !givesCredential(name, value)
  // Not even a variable that is kept may contain the key of the caller.
  return { ...withoutSecrets(Object.fromEntries(Object.entries(env).filter(isLeft)), secrets), ...own }
}

/** Reports whether a job has an ID token here. */
export const hasIdToken = (env: NodeJS.ProcessEnv): boolean =>
  Object.entries(env).some(([name, value = '']) => value !== '' && givesIdToken(name, value))

/** Returns the lines of a file for `docker run --env-file`, which knows no quotes. */
export const environmentFile = (own: Readonly<Record<string, string>>): string =>
  Object.entries(own)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
