/** Keeps what the post step and the credential plugin need, in a folder that only this user may read. */
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { intendedName, replaceFile } from '../../../core/src/files/privatefiles.ts'
import type { Api, Granted } from '../api/exchange.ts'
import type { Target } from '../api/target.ts'
import { messageOf } from '../runner/failure.ts'
import type { Log } from '../runner/log.ts'

export interface Session extends Api {
  audience: string
  /** Absent if the step was given a key. */
  credential?: string
  scope?: string
  target: Target
  /** Lifetime of tokens in seconds, if the step says so. */
  ttl?: number
}

/** What the folder holds. Times are in Unix milliseconds. */
export type Held = HeldKey | HeldToken

/** An access key, and the token that was made with it last. */
export interface HeldKey extends Partial<HeldToken> {
  key: string
  /** Absent for a key that the step was given. */
  keyLife?: Life
}

/** The token of an exchange for the target alone. */
export interface HeldToken {
  token: string
  tokenLife: Life
}

export interface Life {
  from: number
  until: number
}

const files = {
  session: 'session.json',
  held: 'credential.json',
  /** The key alone, for curl and other programs. */
  key: 'key',
  /** Every key and token of an exchange, one a line, for the post step. */
  exchanged: 'exchanged',
  kubeConfig: 'kubeconfig',
  lock: 'lock',
  /** The warnings that the job has shown. */
  warned: 'warned',
}

/** What the names of the folders of several clusters begin with. A file has another name. */
const CLUSTER = 'cluster-'

/** Returns the folder that the plugin of one of several clusters has. */
export const clusterFolder = (folder: string, name: string): string => join(folder, `${CLUSTER}${name}`)

/** Reports whether this program writes a file or a folder with this name to the folder. */
export const isFileOfSession = (name: string): boolean =>
  name.startsWith(CLUSTER) || Object.values(files).includes(intendedName(name))

export const keyFile = (folder: string): string => join(folder, files.key)
export const kubeConfigFile = (folder: string): string => join(folder, files.kubeConfig)
export const lockFile = (folder: string): string => join(folder, files.lock)

export async function writeSession(folder: string, session: Session): Promise<void> {
  await replaceFile(join(folder, files.session), JSON.stringify(session))
}

export const readSession = (folder: string): Session =>
  JSON.parse(readFileSync(join(folder, files.session), 'utf8')) as Session

/** Records what an exchange has granted, before anything else is done with it. */
export const recordExchanged = (folder: string, { credential, others = [] }: Granted): void =>
  appendFileSync(join(folder, files.exchanged), `${[credential, ...others].join('\n')}\n`, { mode: 0o600 })

/** Returns the keys and tokens that exchanges have granted, also those of the folders of several clusters. */
export function readExchanged(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith(CLUSTER)) : []
  return [folder, ...names.map((name) => join(folder, name))].flatMap(grantedIn)
}

function grantedIn(folder: string): string[] {
  try {
    return readFileSync(join(folder, files.exchanged), 'utf8').split('\n').filter(Boolean)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Returns a log that shows each warning once in the job. Numbers in it, such as the seconds that are left, make no other warning. */
export const warningOnce = (folder: string, log: Log): Log => ({
  ...log,
  warning(message) {
    const file = join(folder, files.warned)
    const kind = `${message.replace(/\d+/g, '0').replaceAll('\n', ' ')}\n`
    if (existsSync(file) && readFileSync(file, 'utf8').includes(kind)) return
    appendFileSync(file, kind, { mode: 0o600 })
    log.warning(message)
  },
})

export async function writeHeld(folder: string, held: Held): Promise<void> {
  if ('key' in held) await replaceFile(keyFile(folder), held.key)
  await replaceFile(join(folder, files.held), JSON.stringify(held))
}

export function readHeld(folder: string): Held {
  try {
    return JSON.parse(readFileSync(join(folder, files.held), 'utf8')) as Held
  } catch (error) {
    throw new Error(`the folder of the step cannot be read: ${messageOf(error)}`)
  }
}
