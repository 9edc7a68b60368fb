/** The stages that requests of every verb pass. */

import { quoted } from '../meta/encoding/gotext.ts'
import { badRequest, forbiddenPath } from '../meta/errors/status.ts'
import { pathSegmentErrors } from '../meta/object/names.ts'
import type { Exchange } from './exchange.ts'
import { negotiate } from './negotiation/accept.ts'
import { first } from './request.ts'

/** Impersonation is not offered; a header that asks for it must not be passed over in silence. */
export function refuseImpersonation({ request, context }: Exchange): void {
  const header = Object.keys(request.headers).find((name) => name.startsWith('impersonate-'))
  if (!header) return
  throw forbiddenPath(`User "${context.user.name}" cannot impersonate: this API does not support impersonation`)
}

/** Names in a path: 400 for what could be taken for another path. */
export function checkNames({ request: { namespace, name } }: Exchange): void {
  for (const [what, value] of Object.entries({ Namespace: namespace, Name: name })) {
    const [problem] = value === '' ? [] : pathSegmentErrors(value)
    if (problem) throw badRequest(`${what} parameter invalid: ${quoted(value)}: ${problem}`)
  }
}

/** Sets the form of the answer; 406 where there is none that the client takes. */
export function acceptable(exchange: Exchange): void {
  const { headers, query } = exchange.request
  exchange.output = negotiate(headers, first(query, 'pretty'))
}
