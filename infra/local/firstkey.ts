/** Creates the first access key of a local server with the same function as in AWS. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { SecretStore } from './aws/secrets.ts'
import { StartupError } from './host/startuperror.ts'

/**
 * Runs the bundled bootstrap function, which fills the empty secrets, and returns the first access key. The environment of the
 * functions must be set.
 */
export async function bootstrapFirstKey(
  bundles: string,
  secrets: Pick<SecretStore, 'read'>,
  secretName: string,
): Promise<string> {
  const { handler } = (await import(pathToFileURL(join(bundles, 'functions', 'bootstrap.mjs')).href)) as {
    handler(): Promise<unknown>
  }
  await handler()
  const key = await secrets.read(secretName)
  if (key === undefined) throw new StartupError('The first access key was not created; the log above gives the reason.')
  return key
}
