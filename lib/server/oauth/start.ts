/** Starts the functions of the OAuth endpoints. */
import { table } from '../../apis/management/v1/ownedaccesskey.table.ts'
import type { PublicHandler } from '../lambda/publicendpoint.ts'
import { createServer, type Server } from '../server.ts'
import { warmUp } from '../warmup.ts'
import { type OAuthEndpoint, oauthHandler } from './endpoint.ts'

/** Returns the Lambda handler of an endpoint, whose server `complete` makes. */
export async function startEndpoint<S extends Server>(
  endpoint: OAuthEndpoint<S>,
  complete: (server: Server) => S,
): Promise<PublicHandler> {
  const server = createServer(process.env)
  await warmUp(server, process.env, table)
  return oauthHandler(complete(server), endpoint)
}
