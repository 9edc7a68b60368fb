/** Makes the environment of a command that gets a narrow key: without everything else from which a credential can come. */
import { givesCredential, givesIdToken, isKeyVariable, namesKubeConfig } from '../../../core/src/credentialvariables.ts'
import { UsageError } from '../io/errors.ts'
import { withoutSecrets } from '../rotation/redact.ts'

/** Throws a UsageError for a variable that would hand the key of the caller to the command. */
export function demandKeepable(names: readonly string[]): void {
  const own = names.find((name) => isKeyVariable(name.toUpperCase()))
  if (own === undefined) return
  throw new UsageError(`--keep ${own} would hand over your own credential.`, 'The command gets one of its own.')
}

/** The environment of a command, and which variables of the caller it has not or not with their values. */
interface Narrowed {
  env: NodeJS.ProcessEnv
  removed: readonly string[]
  /** Those that named another kube config. */
  set: readonly string[]
}

interface Narrowing {
  /** The variables of the narrow key, which name its kube config in KUBECONFIG. */
  own: Readonly<Record<string, string>>
  keep: readonly string[]
  secrets: readonly string[]
}

/** Returns the environment with the variables of the narrow key, and without what gives another credential, unless it is kept. */
export function narrowEnvironment(env: NodeJS.ProcessEnv, { own, keep, secrets }: Narrowing): Narrowed {
  const isLeft = ([name, value = '']: [string, string | undefined]) =>
    keep.includes(name) || !givesCredential(name, value)
  // Not even a variable that is kept may contain the key of the caller.
  const left = withoutSecrets(Object.fromEntries(Object.entries(env).filter(isLeft)), secrets)
  const gone = Object.keys(env).filter((name) => env[name] && !(name in left) && !(name in own))
  const { KUBECONFIG: config } = own
  const set = config === undefined ? [] : gone.filter(namesKubeConfig)
  return {
    env: { ...left, ...Object.fromEntries(set.map((name) => [name, config])), ...own },
    removed: gone.filter((name) => !set.includes(name)),
    set,
  }
}

/** Says in one line what the command does not have of the environment. Returns undefined if it has everything. */
export function narrowedWords({ removed, set }: Pick<Narrowed, 'removed' | 'set'>): string | undefined {
  const parts = [
    ...(removed.length > 0 ? [`Removed from its environment: ${removed.join(', ')}.`] : []),
    ...(set.length > 0 ? [`Set to its kube config: ${set.join(', ')}.`] : []),
  ]
  return parts.length > 0 ? parts.join(' ') : undefined
}

/** Reports whether the environment contains one of the secrets. */
export function containsSecret(env: NodeJS.ProcessEnv, secrets: readonly string[]): boolean {
  const left = withoutSecrets(env, secrets)
  return Object.keys(env).some((name) => env[name] && !(name in left))
}

/** Reports whether a job has an ID token here. */
export const hasIdToken = (env: NodeJS.ProcessEnv): boolean =>
  Object.entries(env).some(([name, value = '']) => value !== '' && givesIdToken(name, value))

/** Returns the lines of a file for `docker run --env-file`, which knows no quotes. */
export const environmentFile = (own: Readonly<Record<string, string>>): string =>
  Object.entries(own)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
