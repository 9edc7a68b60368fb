/** Opens a session: the server and the credential of a context, with one method per HTTP verb. */
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import { nearest } from '../../../core/src/words/nearest.ts'
import { type Config, type Context, readConfig } from '../config/contexts.ts'
import { configFile } from '../config/paths.ts'
import { readIfThere } from '../config/privatefile.ts'
import { CliError, UsageError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { type CallOptions, call } from './call.ts'
import { type Exchange, exchangedKey, forgetExchangedKey } from './exchange.ts'
import { keyIn } from './keytext.ts'
import { nearestName } from './nearestname.ts'
import { serverUrl } from './serverurl.ts'
import { StatusError } from './status.ts'

/** The path of the kinds of this API, below the server. */
export const API = '/apis/management.platform/v1'

export interface Session {
  /** The name of the context; undefined if the environment names the server. */
  context: string | undefined
  /** The URL with its base path, without a slash at the end. */
  server: string
  /** In PEM; undefined if the machine's own authorities are used. */
  certificateAuthority: string | undefined
  /** The prefix of the namespaces of projects, if the context has it. */
  projectNamespacePrefix: string | undefined
  /** How the session gets its key, if an ID token is exchanged for it. */
  exchange: Exchange | undefined
  /** Returns the access key of the session. */
  key(): Promise<string>
  /** Paths begin with a slash and are below the server. Throws a StatusError when the server refuses. */
  get(path: string, options?: CallOptions): Promise<JsonObject>
  post(path: string, body: JsonObject, options?: CallOptions): Promise<JsonObject>
  put(path: string, body: JsonObject, options?: CallOptions): Promise<JsonObject>
  /** Sends a JSON merge patch, or operations as a JSON patch. */
  patch(path: string, body: JsonObject | JsonObject[], options?: CallOptions): Promise<JsonObject>
  /** `body` are DeleteOptions. */
  delete(path: string, options?: CallOptions, body?: JsonObject): Promise<JsonObject>
}

/** What a session needs to know of its server. `key` replaces that of the context. */
export interface Target extends Context {
  name?: string
}

/** Opens the session of `--context`, of `KEYPLANE_URL` with `KEYPLANE_KEY`, or of the current context, in this order. */
export async function openSession(io: Io, { context }: { context?: string | undefined } = {}): Promise<Session> {
  return sessionOf(
    io,
    (context === undefined ? await fromEnvironment(io) : undefined) ?? (await fromConfig(io, context)),
  )
}

/** Returns a session with a server that is known already. */
export function sessionOf(io: Io, target: Target): Session {
  const server = serverUrl(target.server)
  const certificateAuthority =
    target.certificateAuthorityData === undefined
      ? undefined
      : Buffer.from(target.certificateAuthorityData, 'base64').toString()
  const exchange = target.exchange && { server, certificateAuthority, ...target.exchange }
  let key: Promise<string> | undefined
  const keyOnce = () => {
    key ??= exchange === undefined ? Promise.resolve(target.key ?? '') : exchangedKey(io, exchange)
    return key
  }
  const warned = new Set<string>()
  const send = async (method: string, path: string, body?: JsonObject | JsonObject[], options: CallOptions = {}) => {
    const connection = { server, certificateAuthority, key: await keyOnce(), warned }
    try {
      return await call(io, connection, { method, path, body }, options)
    } catch (error) {
      if (exchange && error instanceof StatusError && error.code === 401) await forgetExchangedKey(io, exchange)
      if (error instanceof StatusError && error.code === 404) error.guess = () => nearestName(session, path)
      throw error
    }
  }
  const session: Session = {
    context: target.name,
    server,
    certificateAuthority,
    projectNamespacePrefix: target.projectNamespacePrefix,
    exchange,
    key: keyOnce,
    get: (path, options) => send('GET', path, undefined, options),
    post: (path, body, options) => send('POST', path, body, options),
    put: (path, body, options) => send('PUT', path, body, options),
    patch: (path, body, options) => send('PATCH', path, body, options),
    // A server that gets DeleteOptions reads no parameters.
    delete: (path, options, body) =>
      send('DELETE', path, body && options?.dryRun ? { ...body, dryRun: ['All'] } : body, options),
  }
  return session
}

async function fromEnvironment({ env }: Io): Promise<Target | undefined> {
  const { KEYPLANE_URL: server, KEYPLANE_CA: authority } = env
  if (!server) return undefined
  const holder = await holderInEnvironment(env)
  if (holder === undefined) {
    throw new UsageError(
      'KEYPLANE_URL is set, but neither KEYPLANE_KEY nor KEYPLANE_KEY_FILE, nor KEYPLANE_CLIENT_ID with KEYPLANE_ID_TOKEN_FILE.',
      'Set one of them, or unset KEYPLANE_URL to use a context.',
    )
  }
  return { server, ...holder, ...(authority && { certificateAuthorityData: await authorityIn(authority) }) }
}

async function holderInEnvironment(env: NodeJS.ProcessEnv): Promise<Pick<Context, 'key' | 'exchange'> | undefined> {
  const key = await keyInEnvironment(env)
  if (key !== undefined) return { key }
  const { KEYPLANE_CLIENT_ID: clientID, KEYPLANE_ID_TOKEN_FILE: tokenFile } = env
  return clientID && tokenFile ? { exchange: { clientID, tokenFile } } : undefined
}

/** Returns the key in `KEYPLANE_KEY`, or in the file that `KEYPLANE_KEY_FILE` names. */
export async function keyInEnvironment(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (env.KEYPLANE_KEY) return keyIn(env.KEYPLANE_KEY, 'in KEYPLANE_KEY')
  if (!env.KEYPLANE_KEY_FILE) return undefined
  const text = await readIfThere(env.KEYPLANE_KEY_FILE)
  if (text === undefined) throw new CliError(`KEYPLANE_KEY_FILE names ${env.KEYPLANE_KEY_FILE}, which does not exist.`)
  return keyIn(text, `in the file ${env.KEYPLANE_KEY_FILE}, which KEYPLANE_KEY_FILE names`)
}

/** Returns a file of certificates in PEM as base64. */
export async function authorityIn(file: string): Promise<string> {
  const text = await readIfThere(file)
  if (text === undefined) throw new CliError(`The certificate authority ${file} does not exist.`)
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw new CliError(`${file} contains no certificate in PEM.`)
  return Buffer.from(text).toString('base64')
}

/** Returns the error of a command that needs a context, when none is the current one. */
export function noContext(contexts: Config['contexts']): UsageError {
  if (contexts.size === 0) {
    return new UsageError(
      'You are not logged in.',
      'Log in once with the URL of the API and an access key: keyplane login URL\nOr set KEYPLANE_URL and KEYPLANE_KEY.',
    )
  }
  return new UsageError(
    `There is no current context. The contexts are: ${[...contexts.keys()].join(', ')}.`,
    'Choose one with: keyplane use NAME',
  )
}

/** Returns the error for a context that does not exist. */
export function unknownContext(name: string, known: Iterable<string>): UsageError {
  const names = [...known]
  const guess = nearest(name, names)
  return new UsageError(
    `There is no context "${name}". The contexts are: ${names.join(', ') || 'none'}.`,
    guess === undefined ? `Log in to make it: keyplane login URL --context ${name}` : `Did you mean "${guess}"?`,
  )
}

async function fromConfig(io: Io, asked: string | undefined): Promise<Target> {
  const { currentContext, contexts } = await readConfig(io)
  const name = asked ?? currentContext
  if (name === undefined) throw noContext(contexts)
  const context = contexts.get(name)
  if (context === undefined) throw unknownContext(name, contexts.keys())
  return { ...withWholeKey(io, name, context), name }
}

/** Returns the context with its key. Throws a UsageError if that is none. */
export const withWholeKey = (io: Io, name: string, context: Context): Context =>
  context.key === undefined
    ? context
    : {
        ...context,
        key: keyIn(
          context.key,
          `in the context "${name}" of ${configFile(io)}`,
          `Log in again: keyplane login --context ${name} --key-file FILE`,
        ),
      }
