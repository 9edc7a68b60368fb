/** Finds the DynamoDB emulator: the package for this platform, otherwise a `dynoxide` on PATH. */
import { accessSync, constants } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { StartupError } from '../host/startuperror.ts'

/** Returns the path of the emulator. `platform` is like `linux-x64`, `path` the value of PATH. Throws a StartupError. */
export function findDynoxide(platform: string, path: string): string {
  const found =
    findPackaged(platform) ??
    path
      .split(delimiter)
      .map((folder) => join(folder, 'dynoxide'))
      .find(isExecutable)
  if (found !== undefined) return found
  throw new StartupError(
    `There is no embedded DynamoDB for ${platform}, and no dynoxide on PATH. Install it with "brew install nubo-db/tap/dynoxide" or "cargo install dynoxide-rs", or start another emulator, such as DynamoDB Local, and name its address in AWS_ENDPOINT_URL_DYNAMODB.`,
  )
}

function findPackaged(platform: string): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(`@dynoxide/${platform}/dynoxide`)
  } catch {
    return undefined
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
