/** Finds the kube configs of this user, as kubectl does, and changes them under the lock that kubectl uses. */
import { chown, lstat, stat } from 'node:fs/promises'
import { posix, win32 } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { dumpYaml, parseYaml } from '../../../../lib/meta/encoding/yaml.ts'
import type { JsonObject } from '../../../../lib/meta/types.ts'
import { locked } from '../config/lock.ts'
import { regularFile } from '../config/outputfile.ts'
import { homeFolder, NO_KUBECONFIG } from '../config/paths.ts'
import { readIfThere, writePrivately } from '../config/privatefile.ts'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { note } from '../output/messages.ts'
import { type Entry, emptyConfig } from './entries.ts'
import { freeName, nameOfEarlier, namesIn, withEntry } from './merge.ts'

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
    new CliError(`${file} is not changed, because it is not a kube config that kubectl can read: ${why}`)
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
 * names of the contexts, and the files. With `use`, makes the only entry the current context.
 */
export async function mergeEntries(
  io: Io,
  entries: readonly Entry[],
  use: boolean,
): Promise<{ names: string[]; files: string[] }> {
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
    if (use) configs.set(main, { ...(configs.get(main) ?? main.config), 'current-context': names[0] ?? '' })
    const files: string[] = []
    for (const [one, config] of configs) {
      if (isDeepStrictEqual(config, one.config)) continue
      await replace(io, one, config)
      files.push(one.file)
    }
    return { names, files }
  })
}

async function replace(io: Io, { file, text }: Found, config: JsonObject): Promise<void> {
  const owner = await stat(file).catch(() => undefined)
  if (text !== undefined) {
    const hasComments = /(^|\s)#/m.test(text)
    const copy = await freeCopy(file, hasComments)
    if (copy !== undefined) {
      await writePrivately(copy, text)
      const lost = hasComments ? ' Only that copy has its comments.' : ''
      note(io, `The kube config as it was before is in ${copy}.${lost}`)
      await keepOwner(copy, owner)
    }
  }
  await writePrivately(file, await dumpYaml(config))
  await keepOwner(file, owner)
}

/**
 * Returns where to keep a kube config before its first change. Returns undefined if a copy exists, which is never touched. Comments get
 * another copy: a file that has some again was edited since.
 */
async function freeCopy(file: string, hasComments: boolean): Promise<string | undefined> {
  for (let number = 1; ; number++) {
    const copy = `${file}.before-keyplane${number === 1 ? '' : `-${number}`}`
    const found = await lstat(copy).catch(() => undefined)
    if (found === undefined) return copy
    if (!hasComments) return undefined
  }
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
