/** Calls a deployment over HTTP with access keys. */
import { readFile } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { text as textOf } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { withoutTrailingSlashes } from '../../lib/engine/meta/value/slashes.ts'

export interface Answer {
  status: number
  headers: Record<string, string | undefined>
  /** Returns each header of this name separately. */
  values(name: string): string[]
  /** The body, decompressed. */
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape; undefined where it is no JSON.
  json: any
}

/** A response of which only the headers have arrived. */
export interface Opened {
  status: number
  /** Yields lines that are not empty as they arrive. Rejects if the body ends before it is complete. */
  lines(): AsyncGenerator<string, void, void>
  /** Disconnects. */
  close(): void
}

export interface Call {
  method?: string
  /** Objects are sent as JSON. */
  body?: object | Uint8Array
  type?: string
  accept?: string
  acceptEncoding?: string
  /** Bearer token; by default the administrator's, '' for none, several for several headers. */
  token?: string | string[]
  /** More headers. */
  headers?: Record<string, string>
  /** What the path is below: the base path by default, the stage or the root of a custom domain, or the host. */
  below?: 'base' | 'stage' | 'host'
}

export interface Client {
  /** Path of the stage, or of the mapping of a custom domain: `/prod`, or '' at the root of a host. */
  stagePath: string
  /** How long the longest watch of the checks lasts. */
  watchSeconds: number
  /** Sends a request. The path is sent unchanged. */
  call(path: string, call?: Call): Promise<Answer>
  /** Sends a GET request and resolves when its headers arrive. */
  open(path: string, call?: Call): Promise<Opened>
}

export interface Place {
  /** `https://HOST/STAGE/kubernetes/management` */
  url: string
  /** An administrator's access key. */
  key: string
  /** PEM of a private certificate authority. */
  ca?: string
  watchSeconds?: number
}

/** Longer than any answer takes, and than a watch is silent. */
const SILENCE_MS = 40_000

const BASE_PATH = '/kubernetes/management'

export function createClient({ url, key, ca, watchSeconds = 45 }: Place): Client {
  const { protocol, hostname, port, pathname } = new URL(url)
  const base = withoutTrailingSlashes(pathname)
  const stagePath = base.endsWith(BASE_PATH) ? base.slice(0, -BASE_PATH.length) : base
  const prefixes = { base, stage: stagePath, host: '' }

  const send = (path: string, call: Call): Promise<IncomingMessage> => {
    const { method = 'GET', body, type, accept, acceptEncoding, token = key, below = 'base', headers: more = {} } = call
    const bytes = body instanceof Uint8Array || body === undefined ? body : Buffer.from(JSON.stringify(body))
    const tokens = [token].flat().filter(Boolean)
    const headers = {
      ...(tokens.length > 0 && { authorization: tokens.map((one) => `Bearer ${one}`) as never }),
      ...(bytes && { 'content-type': type ?? 'application/json', 'content-length': bytes.length }),
      ...(acceptEncoding && { 'accept-encoding': acceptEncoding }),
      accept: accept ?? 'application/json',
      ...more,
    }
    return new Promise((resolve, reject) => {
      const request = protocol === 'https:' ? httpsRequest : httpRequest
      const target = { host: hostname, port: port || undefined, path: prefixes[below] + path }
      const sent = request({ ...target, method, headers, ...(ca && { ca }) }, resolve)
      sent.setTimeout(SILENCE_MS, () => sent.destroy(new Error(`nothing arrived for ${SILENCE_MS / 1000} s`)))
      sent.once('error', reject)
      sent.end(bytes)
    })
  }
  return {
    stagePath,
    watchSeconds,
    async call(path, call = {}) {
      const response = await send(path, call)
      const bytes = await readAll(response)
      const isCompressed = response.headers['content-encoding'] === 'gzip' && bytes.length > 0
      const text = (isCompressed ? gunzipSync(bytes) : bytes).toString()
      return {
        status: response.statusCode ?? 0,
        headers: response.headers as Record<string, string>,
        values: (name) => response.headersDistinct[name] ?? [],
        text,
        json: parseJson(text),
      }
    },
    async open(path, call = {}) {
      const response = await send(path, call)
      response.setEncoding('utf8')
      return {
        status: response.statusCode ?? 0,
        async *lines() {
          let rest = ''
          for await (const chunk of response) {
            const parts = (rest + chunk).split('\n')
            rest = parts.pop() ?? ''
            yield* parts.filter((part) => part.trim() !== '')
          }
        },
        close() {
          response.destroy()
        },
      }
    },
  }
}

async function readAll(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Reads an access key from a file, or for `-` from standard input. It may end with a line break. */
export const readKey = async (file: string): Promise<string> =>
  (await (file === '-' ? textOf(process.stdin) : readFile(file, 'utf8'))).trim()
