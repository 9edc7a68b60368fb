/** Where the DynamoDB emulator is: the package for this platform, else a `dynoxide` that somebody has installed. */
import { accessSync, constants } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { StartupError } from '../host/startuperror.ts'

/** `platform`: `linux-x64`, of process.platform and process.arch; `path`: the folders of PATH. Throws a StartupError. */
export function findDynoxide(platform: string, path: string): string {
  const found =
    packaged(platform) ??
    path
      .split(delimiter)
      .map((folder) => join(folder, 'dynoxide'))
      .find(isExecutable)
  if (found !== undefined) return found
  throw new StartupError(
    `There is no embedded DynamoDB for ${platform}, and no dynoxide on PATH. Install it with "brew install nubo-db/tap/dynoxide" or "cargo install dynoxide-rs", or start another emulator, such as DynamoDB Local, and name its address in AWS_ENDPOINT_URL_DYNAMODB.`,
  )
}

function packaged(platform: string): string | undefined {
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
