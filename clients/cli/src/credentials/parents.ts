/**
 * Remembers which programs were given a credential. A client runs its plugin again after a 401, and otherwise only when what it was given
 * ends: so a program that asks again before that was refused, and gets a new credential.
 */
import { join } from 'node:path'
import { replaceFile } from '../../../core/src/files/privatefiles.ts'
import { readTrusted } from './cachefolder.ts'

/** How many programs are remembered. One that is forgotten is refused once more, and asks again. */
const MOST = 32

/** A program, and when the credential arrived that it was given. */
type Given = readonly [parent: string, received: number]

const fileOf = (name: string): string => `${name}.parents`

function readGiven(folder: string, name: string): Given[] {
  try {
    const value: unknown = JSON.parse(readTrusted(folder, fileOf(name)) ?? '[]')
    return Array.isArray(value) ? value.filter((one) => Array.isArray(one) && one.length === 2) : []
  } catch {
    return []
  }
}

/** Reports whether the program was given the credential that arrived then. */
export const wasGiven = (folder: string, name: string, parent: string, received: number): boolean =>
  readGiven(folder, name).some(([one, at]) => one === parent && at === received)

/** Remembers that the program is given the credential that arrived then. Does nothing if that fails. */
export async function rememberGiven(folder: string, name: string, parent: string, received: number): Promise<void> {
  const others = readGiven(folder, name).filter(([one]) => one !== parent)
  const given: Given[] = [...others.slice(1 - MOST), [parent, received]]
  await replaceFile(join(folder, fileOf(name)), JSON.stringify(given)).catch(() => {})
}
