/** Makes the request with which a function rehearses an OAuth endpoint while it initializes. It reads and writes nothing. */
import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { PublicHandler } from '../lambda/publicendpoint.ts'

const type = 'application/x-www-form-urlencoded'

/** Sends a form to the handler and discards the answer. */
export async function rehearse(handler: PublicHandler, form: Readonly<Record<string, string>>): Promise<void> {
  const event = {
    httpMethod: 'POST',
    resource: '/',
    path: '/',
    headers: { 'Content-Type': type, 'User-Agent': 'rehearsal' },
    body: new URLSearchParams(form).toString(),
    requestContext: {
      requestId: '',
      requestTimeEpoch: Date.now(),
      identity: { sourceIp: '', userAgent: null },
    },
  }
  await handler(event as unknown as APIGatewayProxyEvent)
}
