/** A server over TLS that publishes the keys with which GitHub signs its reports, and reports signed with them. */

import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { PartnerKeysDeps } from '../../lib/server/leaks/partnerkeys.ts'
import { SERVER_AUTH, testAuthority } from '../lib/kubeconfig/authority.ts'
import { listening } from './listening.ts'

const HOST = 'keys.test'

export interface SigningKey {
  id: string
  privateKey: KeyObject
  /** Its entry in the list. */
  listed: { key_identifier: string; key: string; is_current: boolean }
}

export function makeSigningKey(curve = 'P-256'): SigningKey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: curve })
  const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString()
  const id = createHash('sha256').update(pem).digest('hex')
  return { id, privateKey, listed: { key_identifier: id, key: pem, is_current: true } }
}

export const listOf = (...listed: object[]): string => JSON.stringify({ public_keys: listed })

/** Returns the headers of a signed report. */
export const signedBy = ({ id, privateKey }: Pick<SigningKey, 'id' | 'privateKey'>, body: Buffer) => ({
  'github-public-key-identifier': id,
  'github-public-key-signature': sign('sha256', body, privateKey).toString('base64'),
})

export interface KeyServer {
  port: number
  /** What `createPartnerKeys` needs to reach it. Every other address is refused. */
  access: Pick<PartnerKeysDeps, 'url' | 'destinations' | 'certificateAuthority'>
  requests: IncomingMessage[]
  /** Answers a request. Tests replace it. */
  respond(request: IncomingMessage, response: ServerResponse): void
  serve(text: string, headers?: Record<string, string>, status?: number): void
  close(): void
}

export async function startKeyServer(): Promise<KeyServer> {
  const authority = await testAuthority()
  const { certificate: cert, key } = await authority.pair({ names: [HOST], usages: [SERVER_AUTH] })
  const server = createServer({ cert, key }, (request, response) => {
    started.requests.push(request)
    started.respond(request, response)
  })
  const { port, stop } = await listening(server)
  const started: KeyServer = {
    port,
    access: {
      url: `https://${HOST}:${port}/keys`,
      destinations: {
        allows: (address) => address === '127.0.0.1',
        resolve: async () => [{ address: '127.0.0.1', family: 4 }],
      },
      certificateAuthority: authority.certificate,
    },
    requests: [],
    respond: () => undefined,
    serve(text, headers = {}, status = 200) {
      started.respond = (_, response) => void response.writeHead(status, headers).end(text)
    },
    close: () => void stop(),
  }
  return started
}
