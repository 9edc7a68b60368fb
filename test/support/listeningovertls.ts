/** Listens with servers over TLS on free ports of this machine. */
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import { issueLoopback, makeAuthority, validFor } from '../../infra/local/host/certificates.ts'
import { type Listening, listening } from './listening.ts'

/** Answers requests over TLS, with a certificate of an authority of its own. */
export async function listeningOverTls(answer: RequestListener): Promise<Listening & { certificateAuthority: string }> {
  const authority = await makeAuthority('keyplane test', validFor(1, Date.now()))
  const { certificate: cert, key } = await issueLoopback(authority, Date.now())
  const { port, stop } = await listening(createServer({ cert, key }, answer))
  return { port, stop, url: `https://127.0.0.1:${port}`, certificateAuthority: authority.certificate }
}
