/** Removes cached credentials that nobody needs any more, and what processes left that were killed. */
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { intendedName } from '../../../core/src/files/privatefiles.ts'
import { readTrusted, remove } from './cachefolder.ts'
import type { Credential } from './credential.ts'
import { type Owner, ownerMark, parseEntry } from './entry.ts'

/** How long after its use a file is removed, so that no process that uses it misses it. */
const KEPT_MILLISECONDS = 3_600_000
/** How many files are looked at in each run. */
const MOST_FILES = 64

const FILE = /^([0-9a-f]{64})\.(json|lock|parents)$/

/** Removes what is over since an hour. Looks at some files only, by chance, so that a full folder delays nobody. */
export function cleanUp(folder: string, now: Date): void {
  const files = filesIn(folder)
  const from = Math.floor(Math.random() * files.length)
  for (const file of [...files.slice(from), ...files.slice(0, from)].slice(0, MOST_FILES)) {
    const over = now.getTime() - KEPT_MILLISECONDS
    const entry = file.entry ? parseEntry(readTrusted(folder, file.name), file.entry)?.entry : undefined
    const end = entry === undefined ? changedAt(folder, file.name) : entry.received + entry.seconds * 1000
    if (end < over) remove(folder, file.name, file.entry === undefined)
  }
}

/** Removes all credentials of an owner, and returns them. Does nothing if there is no cache. */
export function forget(folder: string, owner: Owner): Credential[] {
  const mark = ownerMark(owner)
  return filesIn(folder).flatMap(({ name, entry }) => {
    const found = entry === undefined ? undefined : parseEntry(readTrusted(folder, name), entry)
    if (found?.owner !== mark) return []
    remove(folder, name)
    return [found.entry.credential]
  })
}

/** Returns the files that this program writes, with the name of the entry for those that are one. */
function filesIn(folder: string): { name: string; entry?: string }[] {
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch {
    return []
  }
  return names.flatMap((name) => {
    const intended = intendedName(name)
    const [, hash = '', extension] = FILE.exec(intended) ?? []
    if (extension === undefined) return []
    return [extension === 'json' && name === intended ? { name, entry: hash } : { name }]
  })
}

function changedAt(folder: string, name: string): number {
  try {
    return lstatSync(join(folder, name)).mtimeMs
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
