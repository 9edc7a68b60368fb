/** Starts the functions of the OAuth endpoints. */
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { table } from '../../apis/management/v1/ownedaccesskey.table.ts'
import type { PublicHandler } from '../lambda/publicendpoint.ts'
import { rehearsalServer } from '../rehearsal.ts'
import { createServer, type Server } from '../server.ts'
import { warmUp } from '../warmup.ts'
import { type OAuthEndpoint, oauthHandler } from './endpoint.ts'

/**
 * Returns the Lambda handler of an endpoint, whose server `complete` makes. While the function initializes, it rehearses the
 * answer to a form, which reads and writes nothing.
 */
export async function startEndpoint<S extends Server>(
  endpoint: OAuthEndpoint<S>,
  complete: (server: Server) => S,
  form: Readonly<Record<string, string>>,
): Promise<PublicHandler> {
  const server = createServer(process.env)
  const rehearsal = oauthHandler(complete(rehearsalServer(server)), endpoint)
  await warmUp(server, process.env, { table, rehearse: () => rehearsal(eventOf(form)) })
  return oauthHandler(complete(server), endpoint)
}

const eventOf = (form: Readonly<Record<string, string>>): APIGatewayProxyEvent => {
  const event = {
    httpMethod: 'POST',
    resource: '/',
    path: '/',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'User-Agent': 'rehearsal' },
    body: new URLSearchParams(form).toString(),
    requestContext: {
      requestId: '',
      requestTimeEpoch: Date.now(),
      identity: { sourceIp: '', userAgent: null },
    },
  }
  return event as unknown as APIGatewayProxyEvent
}
