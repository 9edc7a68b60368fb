/** Answers requests for the files of the console: a page without a cache, and files that a browser keeps permanently. */
import { gzipSync } from 'node:zlib'
import { type ApiResponse, emptyStream } from '../../endpoints/request.ts'
import type { ConsoleSignIn } from '../process/config.ts'
import { lazy } from '../process/lazy.ts'
import { securityHeaders } from './securityheaders.ts'
import { metaElement, originsOf } from './signinsettings.ts'

/** A file of the console, as clients/console/build.ts makes it. */
export interface ConsoleFile {
  /** Its address below the folder of the console. Names of all files but the page contain a hash of the contents. */
  name: string
  /** Value of the header Content-Type. */
  type: string
  text: string
}

interface ConsoleRequest {
  method: string
  /** The path as the client sent it, perhaps without the stage: only its end counts. */
  path: string
  /** The part after the folder of the console; undefined for the folder itself. */
  name: string | undefined
  acceptsGzip: boolean
}

export type ConsoleOutcome = 'served' | 'redirected' | 'not found'

interface ConsoleAnswer {
  response: ApiResponse
  outcome: ConsoleOutcome
  /** The file that was served. */
  name?: string
}

const PAGE = 'index.html'

const NOT_FOUND = 'There is no such page. The console has one address, which ends with /console/.\n'

/** The line of the page that names the settings for signing in, or that a page without them lacks. */
const MARK = /\{\{sign-in\}\}\n?/

/** Returns the function that answers requests. With settings, people can sign in with an identity provider. */
export function consoleAnswers(
  files: readonly ConsoleFile[],
  signIn?: ConsoleSignIn,
): (request: ConsoleRequest) => ConsoleAnswer {
  const element = signIn ? `${metaElement(signIn)}\n` : ''
  const known = new Map(
    files.map(({ name, type, text: built }) => {
      const text = name === PAGE ? built.replace(MARK, () => element) : built
      return [name, { name, type, text, gzip: lazy(() => gzipSync(text, { level: 9 })) }]
    }),
  )
  const common = securityHeaders(signIn ? originsOf(signIn) : [])
  const refuse = (status: number, body: string, more: Record<string, string> = {}): ApiResponse => ({
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...common, ...more },
    warnings: [],
    body,
  })

  return ({ method, path, name, acceptsGzip }) => {
    const answer = (response: ApiResponse, outcome: ConsoleOutcome, served?: string): ConsoleAnswer => ({
      response: method === 'HEAD' ? { ...response, body: emptyStream } : response,
      outcome,
      ...(served !== undefined && { name: served }),
    })
    // The addresses in the page are relative to the folder, so its address must end with exactly one slash.
    if (name === undefined && !path.endsWith('/')) {
      return answer(refuse(308, 'The console is at console/.\n', { location: 'console/' }), 'redirected')
    }
    const isFolder = name === undefined && !path.endsWith('//')
    const file = isFolder ? known.get(PAGE) : path.endsWith('/') ? undefined : known.get(name ?? '')
    if (file === undefined) return answer(refuse(404, NOT_FOUND), 'not found')
    const headers = {
      'content-type': file.type,
      'cache-control': file.name === PAGE ? 'no-store' : 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
      ...common,
      ...(acceptsGzip && { 'content-encoding': 'gzip' }),
    }
    const body = acceptsGzip ? file.gzip() : file.text
    return answer({ status: 200, headers, warnings: [], body }, 'served', file.name)
  }
}
