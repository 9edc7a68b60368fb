/** Calls a deployment over HTTP with access keys. */
import { readFile } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'

export interface Answer {
  status: number
  headers: Record<string, string | undefined>
  /** Returns each header of this name separately. */
  values(name: string): string[]
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape; undefined where it is no JSON.
  json: any
}

export interface Call {
  method?: string
  /** Objects are sent as JSON. */
  body?: object | Uint8Array
  type?: string
  accept?: string
  /** Bearer token; by default the administrator's, '' for none. */
  token?: string
}

export interface Client {
  /** Sends a request to a path below the base path. */
  call(path: string, call?: Call): Promise<Answer>
  /** Yields the answer line by line as it arrives. */
  lines(path: string, token: string): AsyncGenerator<string, void, void>
}

export interface Place {
  /** `https://HOST/STAGE/kubernetes/management` */
  url: string
  /** An administrator's access key. */
  key: string
  /** PEM of a private certificate authority. */
  ca?: string
}

export function createClient({ url, key, ca }: Place): Client {
  const send = (path: string, { method = 'GET', body, type, accept, token = key }: Call): Promise<IncomingMessage> => {
    const bytes = body instanceof Uint8Array || body === undefined ? body : Buffer.from(JSON.stringify(body))
    const headers = {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(bytes && { 'content-type': type ?? 'application/json', 'content-length': bytes.length }),
      accept: accept ?? 'application/json',
    }
    return new Promise((resolve, reject) => {
      const request = url.startsWith('https:') ? httpsRequest : httpRequest
      const sent = request(`${url}${path}`, { method, headers, ...(ca && { ca }) }, resolve)
      sent.once('error', reject)
      sent.end(bytes)
    })
  }
  return {
    async call(path, call = {}) {
      const response = await send(path, call)
      const text = await readAll(response)
      return {
        status: response.statusCode ?? 0,
        headers: response.headers as Record<string, string>,
        values: (name) => response.headersDistinct[name] ?? [],
        text,
        json: parsed(text),
      }
    },
    async *lines(path, token) {
      const response = await send(path, { token })
      if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${await readAll(response)}`)
      let rest = ''
      for await (const chunk of response) {
        const parts = (rest + chunk).split('\n')
        rest = parts.pop() ?? ''
        yield* parts.filter((part) => part.trim() !== '')
      }
    },
  }
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Reads an access key from a file, which may end with a line break. */
export const readKey = async (file: string): Promise<string> => (await readFile(file, 'utf8')).trim()
