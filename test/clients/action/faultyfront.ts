/** Stands between the Action and two real servers, the API and the issuer of ID tokens, and fails where a test says so. */

import { request as httpsRequest } from 'node:https'
import { pipeline } from 'node:stream'
import { listeningOverTls } from '../../support/listeningovertls.ts'

export type Fault =
  | 'hang'
  | 'reset'
  /** The request is forwarded when this is done. */
  | { after: () => Promise<void> }
  | { code: number; headers?: Record<string, string>; body?: string }

export interface FaultyFront {
  /** The URL that stands for an upstream URL. */
  of(url: string): string
  certificateAuthority: string
  /** The path of each request so far. */
  seen: string[]
  /** Returns how a request to a path fails, or undefined to forward it. */
  fault: (path: string) => Fault | undefined
  stop(): Promise<void>
}

/** Forwards `/HOST:PORT/…` to `https://HOST:PORT/…`. */
export async function startFaultyFront(upstreamAuthority: string): Promise<FaultyFront> {
  const {
    url: origin,
    certificateAuthority,
    stop,
  } = await listeningOverTls(async (incoming, response) => {
    const [, host = '', path = ''] = /^\/([^/]+)(\/.*)$/.exec(incoming.url ?? '') ?? []
    front.seen.push(path)
    const fault = front.fault(path)
    if (fault === 'hang') return
    if (fault === 'reset') return void incoming.socket.destroy()
    if (fault && 'after' in fault) await fault.after()
    else if (fault) return void response.writeHead(fault.code, fault.headers).end(fault.body)
    const { method } = incoming
    const outgoing = httpsRequest(
      `https://${host}${path}`,
      { method, headers: { ...incoming.headersDistinct, host }, ca: upstreamAuthority },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headersDistinct)
        pipeline(answer, response, () => {})
      },
    )
    outgoing.on('error', () => response.destroy())
    pipeline(incoming, outgoing, () => {})
  })
  const front: FaultyFront = {
    of: (url) => url.replace(/^https:\//, origin),
    certificateAuthority,
    seen: [],
    fault: () => undefined,
    stop,
  }
  return front
}
