/** Builds a request to the store of a kind for the stages of its verb, for tests with their own clock. */
import type { UserInfo } from '../../lib/authorization/users/user.ts'
import type { EndpointServices, StoredExchange, StoredPipeline } from '../../lib/endpoints/exchange.ts'
import { run } from '../../lib/endpoints/pipeline.ts'
import type { ApiResponse } from '../../lib/endpoints/request.ts'
import type { Deadline } from '../../lib/meta/errors/deadline.ts'
import { StatusError } from '../../lib/meta/errors/status.ts'
import type { Store } from '../../lib/registry/store.ts'
import { endless } from './deadlines.ts'
import { contextOf, type TestContext } from './users.ts'

export interface Asked {
  store: Store
  user: UserInfo
  services: EndpointServices
  query?: Record<string, string>
  deadline?: Deadline
  now?: Date
}

/** Returns the answer of the verb and its audit notes. Throws errors that are not API errors. */
export async function answer(
  { stages }: StoredPipeline,
  { store, user, services, query = {}, deadline = endless, now = new Date() }: Asked,
): Promise<{ response: ApiResponse; context: TestContext }> {
  const context = { ...contextOf(user, { now }), deadline }
  const exchange: StoredExchange = {
    request: {
      method: 'GET',
      path: '/',
      namespace: '',
      name: '',
      subresource: '',
      query: new Map(Object.entries(query).map(([name, value]) => [name, [value]])),
      headers: { accept: 'application/json' },
      body: new Uint8Array(),
      user,
      requestId: 'r',
      now,
      deadline,
    },
    context,
    warnings: [],
    services,
    kind: store.kind,
    store,
  }
  const response = await run(exchange, stages, (error) => {
    if (!(error instanceof StatusError)) throw error
  })
  return { response, context }
}
