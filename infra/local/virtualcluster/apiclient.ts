/** Sends JSON over HTTPS to a server on this machine, and trusts only the given authority. */
import { request } from 'node:https'

export interface ApiClient {
  /** Resolves for any status. `body` is the parsed JSON, or undefined when it is not JSON. */
  send(method: string, url: string, body?: object): Promise<{ status: number; body: unknown }>
}

const TIMEOUT_MS = 30_000

/** `authority` is PEM. */
export function createApiClient(authority: string, token?: string): ApiClient {
  return {
    send: (method, url, body) =>
      new Promise((resolve, reject) => {
        const options = {
          method,
          ca: authority,
          agent: false,
          timeout: TIMEOUT_MS,
          headers: {
            accept: 'application/json',
            'content-type': 'application/json',
            ...(token !== undefined && { authorization: `Bearer ${token}` }),
          },
        } as const
        const outgoing = request(url, options, async (incoming) => {
          try {
            const chunks: Buffer[] = await incoming.toArray()
            resolve({ status: incoming.statusCode ?? 0, body: parseJson(Buffer.concat(chunks).toString('utf8')) })
          } catch (error) {
            reject(error)
          }
        })
        outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer in ${TIMEOUT_MS} ms`)))
        outgoing.on('error', reject)
        outgoing.end(body && JSON.stringify(body))
      }),
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
