/** GET of a collection: a list, or a watch. */
import { type Exchange, type StoredExchange, type StoredPipeline, set } from '../exchange.ts'
import { negotiate } from '../negotiation/accept.ts'
import { listOptions } from '../options.ts'
import { first } from '../request.ts'
import { checkNames, refuseImpersonation } from '../stages.ts'
import { listObjects } from './list.ts'
import { watchObjects } from './watch.ts'

/** Options come before the form of the answer: watches have other forms. */
function withListOptions(exchange: Exchange): void {
  const { query, headers } = exchange.request
  const options = listOptions(query, true)
  exchange.listOptions = options
  exchange.output = negotiate(headers, first(query, 'pretty'), { watch: options.watch })
}

const listOrWatch = (exchange: StoredExchange): Promise<void> =>
  set(exchange.listOptions, 'listOptions').watch ? watchObjects(exchange) : listObjects(exchange)

export const listPipeline: StoredPipeline = {
  verb: 'list',
  stages: [refuseImpersonation, checkNames, withListOptions, listOrWatch],
}
