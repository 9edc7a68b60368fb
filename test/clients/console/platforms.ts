/** What the console knows of CI platforms, as it is built. */
import { fileURLToPath } from 'node:url'
import { readPlatforms } from '../../../clients/console/platforms.ts'
import type { Platform } from '../../../clients/console/src/pages/trusts/platforms/platforms.ts'

export const platforms: readonly Platform[] = await readPlatforms(
  fileURLToPath(new URL('../../../clients/console/src/platforms.yaml', import.meta.url)),
)

export function platformOf(type: string): Platform {
  const found = platforms.find((one) => one.type === type)
  if (!found) throw new Error(`no platform ${type}`)
  return found
}
