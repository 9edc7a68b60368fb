/** Proxies the paths below a prefix of a host over TLS, and knows nothing else: everything outside is 403, as on a host of API Gateway. */

import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { pipeline } from 'node:stream'
import { listeningOverTls } from './listeningovertls.ts'

export interface Front {
  /** `https://127.0.0.1:PORT/PREFIX` */
  url: string
  certificateAuthority: string
  /** The methods and targets of all requests so far: `GET /PREFIX/apis?a=b`. */
  seen: string[]
  stop(): Promise<void>
}

export interface Upstream {
  /** The URL of the server that stands for `prefix`; its path replaces the prefix. */
  url: string
  certificateAuthority?: string
  /** Replaces the Host header of the client. */
  host?: string
}

/** `prefix` starts with a slash. */
export async function startFront(prefix: string, upstream: Upstream): Promise<Front> {
  const send = upstream.url.startsWith('https:') ? httpsRequest : httpRequest
  const trust = upstream.certificateAuthority === undefined ? {} : { ca: upstream.certificateAuthority }
  const seen: string[] = []
  const {
    url: origin,
    certificateAuthority,
    stop,
  } = await listeningOverTls((incoming, response) => {
    const { method, url = '' } = incoming
    seen.push(`${method} ${url}`)
    if (!url.startsWith(`${prefix}/`)) {
      incoming.resume()
      response.writeHead(403, { 'content-type': 'application/json' }).end('{"message":"Forbidden"}')
      return
    }
    const target = upstream.url + url.slice(prefix.length)
    const headers = { ...incoming.headersDistinct, host: upstream.host ?? incoming.headers.host }
    const outgoing = send(target, { method, headers, ...trust }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headersDistinct)
      response.flushHeaders()
      pipeline(answer, response, () => {})
    })
    outgoing.on('error', () => response.destroy())
    response.on('close', () => outgoing.destroy())
    pipeline(incoming, outgoing, () => {})
  })
  return { url: origin + prefix, certificateAuthority, seen, stop }
}
