/** Reads the files of examples/, which pages name, so that tests run them as they are written. */
import { readFile } from 'node:fs/promises'
import { loadAll } from 'js-yaml'
import type { Block } from './federationpages.ts'

/**
 * Returns the text of a file. `given` maps texts in it to their replacements: placeholders, paths and times. Throws when the file no longer
 * has such a text.
 */
export async function readExample(path: string, given: Readonly<Record<string, string>> = {}): Promise<string> {
  const text = await readFile(new URL(`../../examples/${path}`, import.meta.url), 'utf8')
  return Object.entries(given).reduce((changed, [name, value]) => {
    if (!changed.includes(name)) throw new Error(`nothing to put in for ${name} in ${path}`)
    return changed.replaceAll(name, value)
  }, text)
}

/** Returns the documents of a YAML file. */
export const objectsIn = async (path: string): Promise<Block[]> => loadAll(await readExample(path))
