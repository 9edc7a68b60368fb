/** Composes the Lambda handler of the revocation endpoint. */
import { OwnedAccessKey } from '../../apis/management/v1/ownedaccesskey.ts'
import type { PublicHandler } from '../lambda/publicendpoint.ts'
import { rehearsalServer } from '../rehearsal.ts'
import { createServer, type Server } from '../server.ts'
import { warmUp } from '../warmup.ts'
import { type OAuthEndpoint, oauthHandler } from './endpoint.ts'
import { rehearse } from './rehearse.ts'
import { revoke } from './revoke.ts'

const endpoint: OAuthEndpoint<Server> = {
  resource: 'oauth2/revoke',
  verb: 'delete',
  answer: revoke,
  measure: () => [],
}

/** Returns the Lambda handler of the revocation endpoint. */
export async function revokeHandler(): Promise<PublicHandler> {
  const server = createServer(process.env)
  const rehearsal = oauthHandler(rehearsalServer(server), endpoint)
  await warmUp(server, process.env, {
    table: OwnedAccessKey.table,
    rehearse: () => rehearse(rehearsal, { token: '-' }),
  })
  return oauthHandler(server, endpoint)
}
