/** The commands of docs/operations.md, to be run as they stand there. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

const text = await readFile(join(import.meta.dirname, '../../docs/operations.md'), 'utf8')

/** Blocks of commands by the heading that they stand below. */
export const blocks: ReadonlyMap<string, readonly string[]> = readBlocks()

function readBlocks() {
  const found = new Map<string, string[]>()
  let heading = ''
  for (const [, commands, title] of text.matchAll(/^```sh\n([\s\S]*?)^```$|^#+ (.*)$/gm)) {
    if (title !== undefined) heading = title
    else found.set(heading, [...(found.get(heading) ?? []), commands ?? ''])
  }
  return found
}

/**
 * Block `index` below a heading. `given` are texts in it and what stands for them here: names that the reader has to put in,
 * places and times. Throws where there is no such block or text: the page has changed.
 */
export function commandsOf(heading: string, index: number, given: Readonly<Record<string, string>> = {}): string {
  const block = blocks.get(heading)?.[index]
  if (block === undefined) throw new Error(`there are no commands ${index} below ${heading}`)
  return Object.entries(given).reduce((commands, [name, value]) => {
    if (!commands.includes(name)) throw new Error(`nothing to put in for ${name} below ${heading}`)
    return commands.replaceAll(name, value)
  }, block)
}
