/** Makes the npm package of the command line, as `npm pack` does. Its bytes depend on the sources only. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'fflate'
import { bundleCommandLine } from '../clients/cli/build.ts'

const folder = join(import.meta.dirname, '../clients/cli')
const BUNDLE = 'dist/keyplane.js'
/** What npm packs besides the files that package.json lists. */
const ALWAYS = ['LICENSE', 'README.md', 'package.json']

export interface Package {
  version: string
  contents: Uint8Array
}

export async function packCommandLine(): Promise<Package> {
  const { version, files } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    version: string
    files: string[]
  }
  const parts: Uint8Array[] = []
  for (const name of [...ALWAYS, ...files].sort()) {
    const contents = name === BUNDLE ? await bundleCommandLine() : await readFile(join(folder, name))
    parts.push(headerOf(`package/${name}`, contents.length), contents, new Uint8Array(-contents.length & (BLOCK - 1)))
  }
  const archive = Buffer.concat([...parts, new Uint8Array(2 * BLOCK)])
  return { version, contents: gzipSync(archive, { level: 9, mtime: 0 }) }
}

const BLOCK = 512
/** That of the files that npm packs: a time that every tool can express. */
const TIME = Date.parse('1985-10-26T08:15:00Z') / 1000

/** Returns the header of a file, as POSIX describes it for ustar. Programs have mode 0755, and all other files 0644. */
function headerOf(name: string, size: number): Uint8Array {
  const header = Buffer.alloc(BLOCK)
  const octal = (value: number, at: number, digits: number) =>
    header.write(`${value.toString(8).padStart(digits, '0')}\0`, at)
  header.write(name)
  octal(name.startsWith('package/bin/') ? 0o755 : 0o644, 100, 7)
  octal(0, 108, 7)
  octal(0, 116, 7)
  octal(size, 124, 11)
  octal(TIME, 136, 11)
  header.write('0', 156)
  header.write('ustar\u000000', 257)
  // The checksum is that of a header with spaces in its place.
  header.fill(' ', 148, 156)
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    6,
  )
  return header
}
