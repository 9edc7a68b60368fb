/** Calls the handler of a verb without a server, for tests that need another clock than real time. */
import type { UserInfo } from '../../lib/access/users/user.ts'
import type { EndpointServices, Handler, StoredCall } from '../../lib/engine/endpoints/call.ts'
import type { ApiResponse } from '../../lib/engine/endpoints/request.ts'
import { runHandler } from '../../lib/engine/endpoints/run.ts'
import type { Deadline } from '../../lib/engine/meta/errors/deadline.ts'
import { StatusError } from '../../lib/engine/meta/errors/status.ts'
import type { Store } from '../../lib/engine/registry/store.ts'
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

/** Returns the answer of the verb and its context. Throws errors that are not Statuses. */
export async function answer(
  handler: Handler<StoredCall>,
  { store, user, services, query = {}, deadline = endless, now = new Date() }: Asked,
): Promise<{ response: ApiResponse; context: TestContext }> {
  const context = { ...contextOf(user, { now }), deadline }
  const call: StoredCall = {
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
  const response = await runHandler(handler, call, (error) => {
    if (!(error instanceof StatusError)) throw error
  })
  return { response, context }
}
