/** The commands of the pages, to be run as they stand there. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface Page {
  /** Blocks of commands by the heading that they stand below. */
  readonly blocks: ReadonlyMap<string, readonly string[]>
  /**
   * Returns block `index` below a heading. `given` are texts in it and what stands for them here: names that the reader has
   * to put in, places and times. Throws where there is no such block or text: the page has changed.
   */
  commandsOf(heading: string, index: number, given?: Readonly<Record<string, string>>): string
}

/** Reads pages, by their paths from the root of the project, as one. */
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

/** Returns the blocks of shell commands of a text by the heading that they stand below. */
export function blocksIn(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>()
  let heading = ''
  for (const [, commands, title] of text.matchAll(/^```sh\n([\s\S]*?)^```$|^#+ (.*)$/gm)) {
    if (title !== undefined) heading = title
    else found.set(heading, [...(found.get(heading) ?? []), commands ?? ''])
  }
  return found
}
