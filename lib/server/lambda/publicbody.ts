/** Answers POSTs to public endpoints, and reads their bodies. No error quotes these, because they contain credentials. */
import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { Deadline } from '../../engine/meta/errors/deadline.ts'
import { methodNotAllowed } from '../../engine/meta/errors/status.ts'
import { headersOf } from './lambdaevents.ts'
import type { NoteFacts, PublicAnswer, PublicEndpoint } from './publicendpoint.ts'
import { type Clocks, inTime } from './requestdeadline.ts'

interface Rules {
  /** What belongs in the body. */
  content: string
  maxBytes: number
  /** Throws unless the headers are those of such a body. */
  check(headers: Readonly<Record<string, string>>): void
  /** Returns the error of a request that is not as it must be. */
  refuse(why: string): Error
  tooLarge(): Error
}

/** Returns the bytes of the body as they were sent. Throws for parameters in the URL, encoded and larger bodies. */
export function readPublicBody(
  event: APIGatewayProxyEvent,
  { content, maxBytes, check, refuse, tooLarge }: Rules,
): Buffer {
  if (Object.keys(event.multiValueQueryStringParameters ?? event.queryStringParameters ?? {}).length > 0)
    throw refuse(`${content} belong in the body of the request, not in its URL`)
  const headers = headersOf(event)
  check(headers)
  if (!/^(identity)?$/i.test(headers['content-encoding']?.trim() ?? ''))
    throw refuse('the body must not have a content-encoding')
  const text = event.body ?? ''
  // The length of that many bytes as base64.
  if (text.length > Math.ceil(maxBytes / 3) * 4) throw tooLarge()
  const bytes = Buffer.from(text, event.isBase64Encoded ? 'base64' : 'utf8')
  if (bytes.length > maxBytes) throw tooLarge()
  return bytes
}

/**
 * Returns how an endpoint answers a POST within the deadline of the request. `refuse` answers for everything that is thrown, also
 * for another method (405).
 */
export const posted =
  <O extends string>(
    clocks: Clocks,
    work: (event: APIGatewayProxyEvent, note: NoteFacts, deadline: Deadline) => Promise<PublicAnswer<O>>,
    refuse: (error: unknown, event: APIGatewayProxyEvent, note: NoteFacts) => Promise<PublicAnswer<O>>,
  ): PublicEndpoint<O>['answer'] =>
  async (event, note) => {
    try {
      if (event.httpMethod !== 'POST') throw methodNotAllowed('only POST')
      return await inTime(clocks, event.requestContext.requestTimeEpoch, (deadline) => work(event, note, deadline))
    } catch (error) {
      return refuse(error, event, note)
    }
  }
