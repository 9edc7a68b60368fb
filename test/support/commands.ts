/** Reads the commands of the documentation pages, so that tests can run them as written. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface Page {
  /** Code blocks by the heading above them. */
  readonly blocks: ReadonlyMap<string, readonly string[]>
  /**
   * Returns block `index` below a heading. `given` maps texts in it to their replacements: placeholders, paths and times.
   * Throws when the page no longer has the block or the text.
   */
  commandsOf(heading: string, index: number, given?: Readonly<Record<string, string>>): string
}

/** Reads pages as one text, by their paths from the root of the project. */
export async function readPage(...paths: string[]): Promise<Page> {
  const texts = paths.map((path) => readFile(join(import.meta.dirname, '../..', path), 'utf8'))
  const blocks = blocksIn((await Promise.all(texts)).join('\n'))
  return {
    blocks,
    commandsOf(heading, index, given = {}) {
      const block = blocks.get(heading)?.[index]
      if (block === undefined) throw new Error(`${paths.join(' ')} has no commands ${index} below ${heading}`)
      return Object.entries(given).reduce((commands, [name, value]) => {
        if (!commands.includes(name)) throw new Error(`nothing to put in for ${name} below ${heading}`)
        return commands.replaceAll(name, value)
      }, block)
    },
  }
}

/** Returns the shell code blocks of a text by the heading above them. */
export function blocksIn(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>()
  let heading = ''
  for (const [, commands, title] of text.matchAll(/^```sh\n([\s\S]*?)^```$|^#+ (.*)$/gm)) {
    if (title !== undefined) heading = title
    else found.set(heading, [...(found.get(heading) ?? []), commands ?? ''])
  }
  return found
}
