/** The first access key of a local server, made by the same function as in AWS. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { SecretsManager } from './aws/secretsmanager.ts'
import { StartupError } from './host/startuperror.ts'

/**
 * Runs `npm run bootstrap`'s function of the bundles, which fills the secrets that are empty, and reads the key that it
 * left. The environment of the functions must be set.
 */
export async function firstKey(
  bundles: string,
  secrets: Pick<SecretsManager, 'currentText'>,
  secretName: string,
): Promise<string> {
  const { handler } = (await import(pathToFileURL(join(bundles, 'functions', 'bootstrap.mjs')).href)) as {
    handler(): Promise<unknown>
  }
  await handler()
  const key = secrets.currentText(secretName)
  if (key === undefined) throw new StartupError('The first access key was not made; the log above says why.')
  return key
}
