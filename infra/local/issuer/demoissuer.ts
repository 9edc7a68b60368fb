/**
 * Issues ID tokens as CI platforms do, so that exchanges can be tried without one. Only the local server has it: its keys are
 * pinned in the identity provider `demo`, and live as long as the process.
 */
import { generateKeyPairSync, hash, randomBytes, sign, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { KeyPair } from '../host/certificates.ts'
import { claimsOf, type Shape, shapes } from './shapes.ts'

/** The `iss` of the tokens. Nothing is served there: like the default issuer of a cluster, it is known by its keys only. */
export const DEMO_ISSUER = 'https://issuer.demo.internal'

export interface DemoIssuer {
  /** `https://127.0.0.1:PORT` */
  url: string
  /** The bearer token that a job presents to get an ID token, as `ACTIONS_ID_TOKEN_REQUEST_TOKEN` is at GitHub. */
  requestToken: string
  /** JSON of the public keys. */
  jwks: string
  close(): Promise<void>
}

export interface DemoIssuerOptions {
  tls: KeyPair
  /** Unix milliseconds. */
  now: () => number
}

interface Answer {
  status: number
  type?: string
  body: string
}

/** Starts the issuer on a free port of 127.0.0.1. */
export async function startDemoIssuer({ tls, now }: DemoIssuerOptions): Promise<DemoIssuer> {
  const requestToken = randomBytes(32).toString('base64url')
  const keys = newKeys()
  const server = createServer({ cert: tls.certificate, key: tls.key }, (request, response) => {
    const { status, type = 'text/plain; charset=utf-8', body } = answer(request)
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
  })

  function answer(request: IncomingMessage): Answer {
    if (request.method !== 'GET') return { status: 405, body: 'Only GET is served.\n' }
    const { pathname, searchParams } = new URL(request.url ?? '/', url)
    if (pathname === '/') return { status: 200, body: page(url) }
    if (pathname === '/keys') return { status: 200, type: 'application/jwk-set+json', body: keys.jwks }
    const shape = Object.hasOwn(shapes, pathname.slice(1)) ? shapes[pathname.slice(1)] : undefined
    if (shape === undefined) return { status: 404, body: page(url) }
    if (!presents(request, requestToken)) return { status: 401, body: 'Send the token of the file job.env.\n' }
    return issue(shape, searchParams)
  }

  function issue(shape: Shape, query: URLSearchParams): Answer {
    const { audience, 'api-version': version, ...replaced } = Object.fromEntries(query)
    if (!audience) return { status: 400, body: 'Send the query parameter audience.\n' }
    const unknown = Object.keys(replaced).find((name) => typeof shape.claims[name] !== 'string')
    if (unknown !== undefined) return { status: 400, body: 'A query parameter is not a claim that can be replaced.\n' }
    const token = keys.sign(claimsOf(shape, { issuer: DEMO_ISSUER, audience, replaced, now: now() }))
    // GitHub's own answer, to GitHub's own question.
    if (version !== undefined) return { status: 200, type: 'application/json', body: JSON.stringify({ value: token }) }
    return { status: 200, body: `${token}\n` }
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    requestToken,
    jwks: keys.jwks,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** Reports whether the request has that bearer token. Hashes, because only buffers of one length can be compared. */
function presents({ headers: { authorization = '' } }: IncomingMessage, token: string): boolean {
  const [, presented = ''] = /^bearer (.*)$/i.exec(authorization) ?? []
  return timingSafeEqual(hash('sha256', presented, 'buffer'), hash('sha256', token, 'buffer'))
}

/** Generates a key of this process, which signs with ES256. */
function newKeys() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const kid = randomBytes(8).toString('hex')
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  return {
    jwks: JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' }] }),
    sign(claims: object): string {
      const input = `${encode({ alg: 'ES256', kid, typ: 'JWT' })}.${encode(claims)}`
      const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' })
      return `${input}.${signature.toString('base64url')}`
    },
  }
}

const page = (url: string): string => `The demo issuer of keyplane. It issues ID tokens for

${Object.entries(shapes)
  .map(([name, { about }]) => `${url}/${name}?audience=AUDIENCE\n    ${about}\n`)
  .join('\n')}
Other query parameters replace claims: /github?audience=AUDIENCE&environment=staging. Send the token of the file job.env as
Authorization: Bearer TOKEN. The public keys are at ${url}/keys.
`
