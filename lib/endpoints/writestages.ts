/** The stages of requests that write: what their bodies are, and the options in their query. */

import type { Exchange } from './exchange.ts'
import { bodyType, checkSize, patchType } from './negotiation/bodies.ts'
import { writeOptions } from './options.ts'

/** 413 for a body over the limit. */
export const sized = ({ request }: Exchange): void => checkSize(request.body)
/** 415 for a body that is no object in a form that is read. */
export const typed = ({ request }: Exchange): void => void bodyType(request.headers)
/** 415 for a body that is no patch. */
export const patchTyped = ({ request }: Exchange): void => void patchType(request.headers)

/** Sets the options of the query, and whether this is a dry run. */
export const withOptions =
  (kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions') =>
  (exchange: Exchange): void => {
    const { query, headers } = exchange.request
    const apply = kind === 'PatchOptions' && patchType(headers) === 'application/apply-patch+yaml'
    exchange.writeOptions = writeOptions(query, kind, apply)
    exchange.context.dryRun = exchange.writeOptions.dryRun
  }
