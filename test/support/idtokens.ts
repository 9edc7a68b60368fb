/** Reads the shapes of ID tokens in `test/fixtures/idtokens`: the claims that each platform documents. */
import { readdir, readFile } from 'node:fs/promises'
import type { JsonObject } from '../../lib/engine/meta/types.ts'

export interface IdTokenShape {
  /** File name without extension, as `github.branch`. */
  name: string
  platform: string
  /** Whose token it is. Shapes of one platform with different tenants belong to strangers. */
  tenant: string
  /** Pages that document the claims, or how they were recorded. */
  source: readonly string[]
  /** Day on which the pages were read. */
  read: string
  note?: string
  header: JsonObject
  /** Times are those of the pages, so they are long past. */
  claims: JsonObject & { iss: string; sub: string }
}

const folder = new URL('../fixtures/idtokens/', import.meta.url)

/** Returns all shapes, sorted by name. */
export async function readIdTokenShapes(): Promise<IdTokenShape[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.json')).sort()
  return Promise.all(
    files.map(async (file) => ({
      name: file.slice(0, -'.json'.length),
      ...JSON.parse(await readFile(new URL(file, folder), 'utf8')),
    })),
  )
}

/** Returns the shape of this name. */
export async function readIdTokenShape(name: string): Promise<IdTokenShape> {
  const shape = (await readIdTokenShapes()).find((one) => one.name === name)
  if (!shape) throw new Error(`test/fixtures/idtokens has no ${name}.json`)
  return shape
}
