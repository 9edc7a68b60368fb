/** Reads the form of a request to an OAuth endpoint from an event of API Gateway. */
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { decodeForm, type Form } from '../../federation/oauth/form.ts'
import { malformed } from '../../federation/oauth/oautherror.ts'
import { readPublicBody } from '../lambda/publicbody.ts'

const maxBytes = 24 * 1024

const FORM_TYPE = /^application\/x-www-form-urlencoded[ \t]*(;[ \t]*charset=("utf-8"|utf-8)[ \t]*)?$/i

/** Returns the parameters of the request. Throws invalid_request for a form that is ambiguous or in the wrong place. */
export function readForm(event: APIGatewayProxyEvent): Form {
  const tooLarge = () => malformed('the body is larger than 24 KiB')
  const body = readPublicBody(event, { content: 'parameters', maxBytes, check, refuse: malformed, tooLarge })
  return decodeForm(body.toString('latin1'))
}

function check(headers: Readonly<Record<string, string>>): void {
  if (headers.authorization !== undefined)
    throw malformed('the request must not have an Authorization header: its client is public')
  if (!FORM_TYPE.test(headers['content-type']?.trim() ?? ''))
    throw malformed('the content-type must be application/x-www-form-urlencoded, with no charset but utf-8')
}
