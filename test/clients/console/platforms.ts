/** What the console knows of CI platforms, as it is built. */
import { readFile } from 'node:fs/promises'
import type { Platform } from '../../../clients/console/src/pages/trusts/platforms/platforms.ts'
import { parseYaml } from '../../../lib/engine/meta/encoding/yaml.ts'

const file = new URL('../../../clients/console/src/platforms.yaml', import.meta.url)

export const platforms = (await parseYaml(await readFile(file, 'utf8'))).value as unknown as readonly Platform[]

export function platformOf(type: string): Platform {
  const found = platforms.find((one) => one.type === type)
  if (!found) throw new Error(`no platform ${type}`)
  return found
}
