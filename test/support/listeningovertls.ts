/** Listens with servers over TLS on free ports of this machine. */
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import { issueServing, makeAuthority, validFor } from '../../infra/local/host/certificates.ts'
import { type Listening, listening } from './listening.ts'

/** Answers requests over TLS, with a certificate of an authority of its own for the host. The host has to lead to this machine. */
export async function listeningOverTls(
  answer: RequestListener,
  host = '127.0.0.1',
): Promise<Listening & { certificateAuthority: string }> {
  const authority = await makeAuthority('keyplane test', validFor(1, Date.now()))
  const { certificate: cert, key } = await issueServing(authority, [host], ['server auth'], validFor(1, Date.now()))
  const { port, stop } = await listening(createServer({ cert, key }, answer))
  return { port, stop, url: `https://${host}:${port}`, certificateAuthority: authority.certificate }
}
