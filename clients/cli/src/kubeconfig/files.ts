/** Finds the kube configs of this user, as kubectl does, and changes them under the lock that kubectl uses. */
import { isUtf8 } from 'node:buffer'
import { chown, lstat, readFile, stat } from 'node:fs/promises'
import { posix, win32 } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { dumpYaml, parseYaml } from '../../../../lib/engine/meta/encoding/yaml.ts'
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import { locked } from '../config/lock.ts'
import { regularFile } from '../config/outputfile.ts'
import { homeFolder, NO_KUBECONFIG } from '../config/paths.ts'
import { readIfThere, writePrivately } from '../config/privatefile.ts'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { note } from '../output/messages.ts'
import { type Entry, emptyConfig } from './entries.ts'
import { freeName, nameOfEarlier, namesIn, withEntry } from './merge.ts'
import { splice } from './splice.ts'

/** Returns the files that kubectl merges: those in `KUBECONFIG`, else ~/.kube/config. */
export function kubeConfigFiles(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string[] {
  const { delimiter, join } = platform === 'win32' ? win32 : posix
  const given = (env.KUBECONFIG ?? '').split(delimiter).filter((file) => file !== '')
  if (given.length > 0) return [...new Set(given)]
  const home = homeFolder(
    platform === 'win32' ? env.USERPROFILE : env.HOME,
    'set KUBECONFIG to the kube config to change.',
  )
  return [join(home, '.kube', 'config')]
}

interface Found {
  file: string
  text: string | undefined
  config: JsonObject
}

async function read(file: string): Promise<Found> {
  const text = await readIfThere(file)
  if (text === undefined || text.trim() === '') return { file, text, config: emptyConfig() }
  const broken = (why: string) =>
    new CliError(`${file} is not changed, because keyplane cannot read it as a kube config: ${why}`)
  if (text.includes('\ufffd') && !isUtf8(await readFile(file))) throw broken('it is not UTF-8')
  const { value, duplicates } = await parseYaml(text).catch((error: Error) => {
    throw broken(error.message)
  })
  if (duplicates.length > 0) throw broken(duplicates.join('; '))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw broken('it is not an object')
  try {
    namesIn(value)
  } catch (error) {
    throw broken((error as Error).message)
  }
  return { file, text, config: value }
}

/**
 * Writes the entries to the kube configs of this user: each to the file that has it already, the others to the first file. Returns the
 * names of the contexts, the files, and whether the only entry is the current context: with `use`, and where there was no kube config.
 */
export async function mergeEntries(
  io: Io,
  entries: readonly Entry[],
  use: boolean,
): Promise<{ names: string[]; files: string[]; isCurrent: boolean }> {
  const paths = await Promise.all(kubeConfigFiles(io.env).map((file) => regularFile(file, NO_KUBECONFIG)))
  return withLocks(io, paths, async () => {
    const found = await Promise.all(paths.map(read))
    // kubectl writes to the first file that exists, else to the last one.
    const main = found.find(({ text }) => text !== undefined) ?? found.at(-1)
    if (main === undefined) throw new CliError('KUBECONFIG names no file.')
    const configs = new Map(found.map((one) => [one, one.config]))
    const taken = new Set(found.flatMap(({ config }) => namesIn(config)))
    const names: string[] = []
    for (const entry of entries) {
      const place = found.find(({ config }) => nameOfEarlier(config, entry.mark) !== undefined) ?? main
      const config = configs.get(place) ?? emptyConfig()
      const name = nameOfEarlier(config, entry.mark) ?? freeName(entry.name, taken)
      taken.add(name)
      names.push(name)
      configs.set(place, withEntry(config, entry, name))
    }
    const isNew = found.every(({ text = '' }) => text.trim() === '')
    const isCurrent = use || (isNew && entries.length === 1)
    if (isCurrent) configs.set(main, { ...(configs.get(main) ?? main.config), 'current-context': names[0] ?? '' })
    const changed = [...configs].filter(([one, config]) => !isDeepStrictEqual(config, one.config))
    const texts = await Promise.all(changed.map(([one, config]) => textOf(one, config)))
    for (const [at, [one]] of changed.entries()) await replace(io, one, texts[at] ?? '')
    return { names, files: changed.map(([{ file }]) => file), isCurrent }
  })
}

/** Returns the text of a file with another content. What other people and programs have written in it stays byte by byte. */
async function textOf({ file, text = '', config: before }: Found, config: JsonObject): Promise<string> {
  if (text.trim() === '') return dumpYaml(config)
  return splice(text, before, config).catch((error: unknown) => {
    if (!(error instanceof CliError)) throw error
    throw new CliError(
      `${file} is not changed, because keyplane cannot add to it without rewriting what is yours: ${error.message}.`,
      { hint: 'Write a file of its own with --output, and name both files in KUBECONFIG.', cause: error },
    )
  })
}

/** Replaces a file. Before its first change, keeps a copy of it, which is never touched again. */
async function replace(io: Io, { file, text: before }: Found, text: string): Promise<void> {
  const owner = await stat(file).catch(() => undefined)
  const copy = `${file}.before-keyplane`
  if (before !== undefined && (await lstat(copy).catch(() => undefined)) === undefined) {
    await writePrivately(copy, before)
    note(io, `The kube config as it was before is in ${copy}.`)
    await keepOwner(copy, owner)
  }
  await writePrivately(file, text)
  await keepOwner(file, owner)
}

/** With sudo, the file stays that of its user. */
async function keepOwner(file: string, owner: { uid: number; gid: number } | undefined): Promise<void> {
  if (process.geteuid?.() === 0 && owner !== undefined) await chown(file, owner.uid, owner.gid)
}

function withLocks<T>(io: Io, files: readonly string[], work: () => Promise<T>): Promise<T> {
  const [first, ...others] = files.toSorted()
  if (first === undefined) return work()
  return locked(`${first}.lock`, { ...io, wayOut: NO_KUBECONFIG }, () => withLocks(io, others, work))
}
