/**
 * Runs a real issuer of ID tokens over TLS, with an authority of its own: discovery, a key set, and tokens in any algorithm.
 * Each document can be replaced, and its answer can fail in each way that a server on the Internet can.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { setInterval } from 'node:timers'
import { gzipSync } from 'node:zlib'
import type { Destinations } from '../../lib/engine/outbound/addresses.ts'
import { SERVER_AUTH, testAuthority } from '../lib/clusters/authority.ts'
import { type IssuerKey, makeIssuerKey, signIdToken } from './issuerkey.ts'
import { listening } from './listening.ts'

/** How the answer for a document fails. */
export type IssuerFault =
  /** Nothing is answered. */
  | 'silent'
  /** The connection closes before the answer. */
  | 'reset'
  /** A byte every 50 ms, without an end. */
  | 'slow'
  /** As many bytes as the connection takes. */
  | 'endless'
  /** 302 to the same document under `/moved`. */
  | 'redirect'
  | 'failing'
  | 'page'
  | 'no JSON'
  /** 10 MiB of spaces before the document, compressed. */
  | 'gzip bomb'
  /** The document, compressed. */
  | 'compressed'
  /** The document after 200 KiB of spaces. */
  | 'large'
  /** The document, declared as a page. */
  | 'wrong media type'

export type IssuerDocument = 'discovery' | 'keys'

/** What differs from a usual token. */
export interface TokenOptions {
  /** Default: the newest key. */
  key?: IssuerKey
  /** Members of the header that replace the usual ones; undefined leaves one out. */
  header?: Record<string, unknown>
}

export interface TestIssuer {
  /** `iss` of the tokens. Unless an option names another, the URL of the server. */
  issuer: string
  /** The URL of the server. */
  url: string
  /** PEM. */
  certificateAuthority: string
  /** Resolves every name below `.test` to the server, and allows loopback addresses only. */
  destinations: Destinations
  /** Where the discovery document is. */
  discoveryPath: string
  /** The documents, as JSON values. Tests may replace them. */
  documents: Record<IssuerDocument, unknown>
  /** Texts to answer instead of the documents. */
  texts: Partial<Record<IssuerDocument, string>>
  faults: Partial<Record<IssuerDocument, IssuerFault>>
  /** More headers of both answers, such as Cache-Control. */
  headers: Record<string, string>
  /** How many requests each document got. */
  requests: Record<IssuerDocument | 'other', number>
  /** The headers of the last request. */
  lastHeaders: IncomingMessage['headers']
  /** Runs before each answer. */
  beforeAnswer: (document: IssuerDocument) => Promise<void> | void
  /** Runs after each byte of a slow answer, with their number. */
  dripped: (count: number) => unknown
  /** The newest key. */
  key: IssuerKey
  /** Replaces the published keys by a new one and returns it. Without `kid`, under a new id. */
  rotate(options?: { alg?: string; kid?: string }): IssuerKey
  /** Signs a token that is valid for five minutes from now, with these claims. */
  sign(claims?: Record<string, unknown>, options?: TokenOptions): string
  /** The published keys as text, for a provider with pinned keys. */
  jwks(): string
  close(): Promise<void>
}

const HOST = 'issuer.test'

/** The first keys of the issuers of a process, by algorithm: an RSA key takes a tenth of a second. Later keys are new. */
const firstKeys = new Map<string, IssuerKey>()

/** Starts an issuer. `issuer` is the `iss` of its tokens, when the keys are pinned and nobody calls it. */
export async function startIssuer(options: { issuer?: string; alg?: string } = {}): Promise<TestIssuer> {
  const authority = await testAuthority('issuer authority')
  const tls = await authority.pair({ names: [HOST, `keys.${HOST}`], usages: [SERVER_AUTH] })
  let count = 0
  const publish = (key: IssuerKey): IssuerKey => {
    started.key = key
    started.documents.keys = { keys: [key.jwk] }
    return key
  }

  const issuer: Omit<TestIssuer, 'issuer' | 'url' | 'key'> & Partial<TestIssuer> = {
    certificateAuthority: authority.certificate,
    destinations: {
      allows: (address) => address === '127.0.0.1',
      async resolve(host) {
        if (host.endsWith('.test')) return [{ address: '127.0.0.1', family: 4 }]
        throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND', syscall: 'getaddrinfo' })
      },
    },
    discoveryPath: '/.well-known/openid-configuration',
    documents: { discovery: {}, keys: {} },
    texts: {},
    faults: {},
    headers: {},
    requests: { discovery: 0, keys: 0, other: 0 },
    lastHeaders: {},
    beforeAnswer: () => undefined,
    dripped: () => undefined,
    rotate: ({ alg = options.alg ?? 'RS256', kid = `key-${++count}` } = {}) => publish(makeIssuerKey(alg, kid)),
    sign(claims = {}, { key = started.key, header } = {}) {
      const now = Math.floor(Date.now() / 1000)
      return signIdToken(
        { iss: started.issuer, aud: 'keyplane', sub: 'job', iat: now, exp: now + 300, ...claims },
        key,
        header,
      )
    },
    jwks: () => JSON.stringify(started.documents.keys),
    close: () => stop(),
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').replace(/^\/moved/, '')
    const document = path === started.discoveryPath ? 'discovery' : path === '/keys' ? 'keys' : undefined
    started.requests[document ?? 'other']++
    started.lastHeaders = request.headers
    if (!document) return void response.writeHead(404).end()
    await started.beforeAnswer(document)
    const isMoved = request.url !== path
    const text = started.texts[document] ?? JSON.stringify(started.documents[document])
    answer(response, text, isMoved ? undefined : started.faults[document], `/moved${path}`)
  }

  function answer(response: ServerResponse, text: string, fault: IssuerFault | undefined, moved: string): void {
    const headers = { 'Content-Type': 'application/json', ...started.headers }
    switch (fault) {
      case undefined:
        return void response.writeHead(200, headers).end(text)
      case 'silent':
        return
      case 'reset':
        return void response.socket?.destroy()
      case 'slow': {
        response.writeHead(200, headers)
        let count = 0
        const timer = setInterval(() => {
          response.write(' ')
          started.dripped(++count)
        }, 50)
        return void response.on('close', () => clearInterval(timer))
      }
      case 'endless': {
        response.writeHead(200, headers)
        const more = () => void (response.destroyed || response.write(Buffer.alloc(65_536, ' '), more))
        more()
        return
      }
      case 'redirect':
        return void response.writeHead(302, { ...headers, Location: `${started.url}${moved}` }).end(text)
      case 'failing':
        return void response.writeHead(500, headers).end(text)
      case 'page':
        return void response.writeHead(200, { ...headers, 'Content-Type': 'text/html' }).end('<html></html>')
      case 'no JSON':
        return void response.writeHead(200, headers).end(text.slice(0, -1))
      case 'gzip bomb':
        return void response
          .writeHead(200, { ...headers, 'Content-Encoding': 'gzip' })
          .end(gzipSync(Buffer.concat([Buffer.alloc(10 * 1024 * 1024, ' '), Buffer.from(text)])))
      case 'compressed':
        return void response.writeHead(200, { ...headers, 'Content-Encoding': 'gzip' }).end(gzipSync(text))
      case 'large':
        return void response.writeHead(200, headers).end(' '.repeat(200 * 1024) + text)
      case 'wrong media type':
        return void response.writeHead(200, { ...headers, 'Content-Type': 'text/html' }).end(text)
    }
  }

  const server = createServer({ cert: tls.certificate, key: tls.key }, (request, response) => {
    serve(request, response).catch((error: Error) => response.destroy(error))
  })
  const { port, stop } = await listening(server)
  const url = `https://${HOST}:${port}`
  const started = Object.assign(issuer, { url, issuer: options.issuer ?? url }) as TestIssuer
  started.documents.discovery = { issuer: started.issuer, jwks_uri: `${url}/keys` }
  const { alg = 'RS256' } = options
  const first = firstKeys.get(alg) ?? makeIssuerKey(alg, 'key-0')
  firstKeys.set(alg, first)
  publish(first)
  return started
}
