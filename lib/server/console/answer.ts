/**
 * Answers requests for the files of the console and of the documentation, and for the package of the command line: pages and the package
 * without a cache, and files that a browser keeps permanently. It is public: the console is only code, and asks the API with a key of the person.
 */
import { gzipSync } from 'node:zlib'
import { type ApiResponse, emptyStream } from '../../engine/endpoints/request.ts'
import { escapeHtml } from '../../engine/meta/value/printable.ts'
import { acceptsGzip, compressBody } from '../lambda/compression.ts'
import { type PublicEndpoint, publicHandler } from '../lambda/publicendpoint.ts'
import { type LambdaHandler, lambdaHandler } from '../lambda/runtime.ts'
import type { Config, ConsoleSignIn } from '../process/config.ts'
import { lazy } from '../process/lazy.ts'
import { createMinimalServer } from '../process/minimal.ts'
import { securityHeaders } from './securityheaders.ts'

/** A file, as clients/console/build.ts and infra/documentation/build.ts make it. */
interface ConsoleFile {
  /** Its address below the folder of the console. Names of all files but pages and packages contain a hash of the contents. */
  name: string
  /** Value of the header Content-Type. */
  type: string
  text: string
  /** Whether the text is a file of bytes in base64. It is compressed already. */
  isBase64?: boolean
}

/** What is read when somebody asks for it first. */
interface Later {
  documentation(): Promise<readonly ConsoleFile[]>
  /** The npm package of the command line and its digest. */
  packages(): Promise<readonly ConsoleFile[]>
}

type ConsoleOutcome = 'served' | 'redirected' | 'not found'

/** The page of a folder. */
const PAGE = 'index.html'

/** What the addresses of the documentation begin with. */
const DOCUMENTATION = /^docs(?:\/|$)/

/** The names of packages. */
const PACKAGE = /^keyplane\.tgz(?:\.|$)/

const NOT_FOUND =
  'There is no such page. The console has one address, which ends with /console/, and its documentation /console/docs/.\n'

/** The line of the page that names the settings for signing in, or that a page without them lacks. */
const MARK = /\{\{sign-in\}\}\n?/

/** Returns the origins that the console calls to sign somebody in. */
const originsOf = ({ issuer, origins }: ConsoleSignIn): string[] => [...new Set([new URL(issuer).origin, ...origins])]

/** Returns the element of the page that the console reads the settings from. */
function metaElement(settings: ConsoleSignIn): string {
  const { issuer, clientID, credential, scopes } = settings
  const text = JSON.stringify({ issuer, clientID, credential, scopes, origins: originsOf(settings) })
  return `<meta name="keyplane-sign-in" content="${escapeHtml(text).replaceAll('"', '&quot;')}">`
}

/** Returns how requests are answered. With `consoleSignIn`, people can sign in with an identity provider. */
function consoleAnswers(
  files: readonly ConsoleFile[],
  { documentation, packages }: Later,
  { consoleSignIn: signIn, compressStreams }: Config,
): PublicEndpoint<ConsoleOutcome>['answer'] {
  const element = signIn ? `${metaElement(signIn)}\n` : ''
  const byName = (all: readonly ConsoleFile[]) =>
    new Map(
      all.map(({ name, type, text: built, isBase64 = false }) => {
        const text = name === PAGE ? built.replace(MARK, () => element) : built
        const body = isBase64 ? Buffer.from(text, 'base64') : text
        return [name, { name, type, body, isPacked: isBase64, gzip: lazy(() => gzipSync(body, { level: 9 })) }]
      }),
    )
  const own = byName(files)
  const pages = lazy(async () => byName(await documentation()))
  const packed = lazy(async () => byName(await packages()))
  const common = securityHeaders(signIn ? originsOf(signIn) : [])
  const refuse = (status: number, body: string, more: Record<string, string> = {}): ApiResponse => ({
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...common, ...more },
    warnings: [],
    body,
  })

  return async (event, note) => {
    const { path, httpMethod, pathParameters } = event
    // Undefined for the folder of the console itself.
    const name = pathParameters?.proxy?.replace(/\/$/, '')
    const answer = (response: ApiResponse, outcome: ConsoleOutcome) => ({
      response: httpMethod === 'HEAD' ? { ...response, body: emptyStream } : response,
      outcome,
    })
    const isPackage = PACKAGE.test(name ?? '')
    const known = DOCUMENTATION.test(name ?? '') ? await pages() : isPackage ? await packed() : own
    const folder = name === undefined ? PAGE : `${name}/${PAGE}`
    // The addresses in a page are relative to its folder, so the address of a folder must end with exactly one slash.
    if (!path.endsWith('/') && known.has(folder)) {
      const location = `${path.split('/').at(-1)}/`
      return answer(refuse(308, `The page is at ${location}\n`, { location }), 'redirected')
    }
    const isFolder = path.endsWith('/') && !path.endsWith('//')
    const file = isFolder ? known.get(folder) : path.endsWith('/') ? undefined : known.get(name ?? '')
    if (file === undefined) return answer(refuse(404, NOT_FOUND), 'not found')
    note({ name: file.name })
    const isZipped = compressStreams && !file.isPacked && acceptsGzip(event)
    const isKept = !isPackage && !file.type.startsWith('text/html')
    const headers = {
      'content-type': file.type,
      'cache-control': isKept ? 'public, max-age=31536000, immutable' : 'no-store',
      vary: 'Accept-Encoding',
      ...common,
      ...(isZipped && { 'content-encoding': 'gzip' }),
    }
    const body = isZipped ? file.gzip() : file.body
    return answer({ status: 200, headers, warnings: [], body }, 'served')
  }
}

/**
 * Returns the handler. It streams, because a function that does not stream
 * may not return bytes of these media types.
 */
export function consoleHandler(files: readonly ConsoleFile[], later: Later): LambdaHandler {
  const server = createMinimalServer(process.env)
  const answer = consoleAnswers(files, later, server.config)
  const respond = publicHandler(server, { resource: 'console', verb: 'get', answer, measure: () => [] })
  return lambdaHandler(
    async (event) => compressBody(await respond(event), event, { streams: true, compresses: false }),
    { streams: true },
  )
}
