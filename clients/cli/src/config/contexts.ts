/** Keeps the contexts: the servers that a person logged in to, each with its credential. */
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { locked } from './lock.ts'
import { replaceFile } from './outputfile.ts'
import { configFile, NO_CONFIG } from './paths.ts'
import { demandWritable, readIfThere } from './privatefile.ts'

/** How a server is reached: with a key, or with the key that an ID token is exchanged for. */
export interface Context {
  /** The URL of the API with its base path, without a slash at the end. */
  server: string
  /** A certificate authority in PEM, encoded as base64. */
  certificateAuthorityData?: string
  key?: string
  exchange?: { clientID: string; tokenFile: string }
  /** The namespaces of projects begin with it, as the server said at the login. Absent in contexts of older versions. */
  projectNamespacePrefix?: string
}

export interface Config {
  currentContext?: string
  contexts: Map<string, Context>
}

/** Returns the contexts; none if there is no file. Throws a CliError if the file is not readable. */
export async function readConfig(io: Pick<Io, 'env'>): Promise<Config> {
  const file = configFile(io)
  const text = await readIfThere(file, NO_CONFIG)
  return text === undefined ? { contexts: new Map() } : parse(file, text)
}

/** Changes the contexts under a lock, so that programs that run at the same time lose nothing. */
export async function changeConfig(
  io: Pick<Io, 'env' | 'elapsed' | 'pause'>,
  change: (config: Config) => void | Promise<void>,
): Promise<void> {
  const file = configFile(io)
  await locked(`${file}.lock`, { ...io, wayOut: NO_CONFIG }, async () => {
    const config = await readConfig(io)
    await change(config)
    const { currentContext, contexts } = config
    const text = JSON.stringify(
      { ...(currentContext !== undefined && { currentContext }), contexts: Object.fromEntries(contexts) },
      null,
      2,
    )
    await replaceFile(file, `${text}\n`)
  })
}

/** Throws a CliError with the way out if the contexts cannot be written. */
export const demandConfig = (io: Pick<Io, 'env'>): Promise<void> => demandWritable(configFile(io), NO_CONFIG)

function parse(file: string, text: string): Config {
  const broken = (why: string) =>
    new CliError(`${file} is not valid: ${why}`, { hint: 'Correct it, or delete it and log in again.' })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw broken('it is not JSON')
  }
  if (!isRecord(value)) throw broken('it is not an object')
  const { currentContext, contexts = {} } = value
  if (currentContext !== undefined && typeof currentContext !== 'string') throw broken('currentContext is not a text')
  if (!isRecord(contexts)) throw broken('contexts is not an object')
  const entries = Object.entries(contexts).map(([name, context]): [string, Context] => {
    if (!isContext(context)) throw broken(`the context "${name}" needs a server, and a key or an exchange`)
    return [name, context]
  })
  return { ...(currentContext !== undefined && { currentContext }), contexts: new Map(entries) }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isContext(value: unknown): value is Context {
  if (!isRecord(value) || typeof value.server !== 'string') return false
  const { key, exchange, certificateAuthorityData, projectNamespacePrefix } = value
  if (certificateAuthorityData !== undefined && typeof certificateAuthorityData !== 'string') return false
  if (projectNamespacePrefix !== undefined && typeof projectNamespacePrefix !== 'string') return false
  if (typeof key === 'string') return exchange === undefined
  return isRecord(exchange) && typeof exchange.clientID === 'string' && typeof exchange.tokenFile === 'string'
}
