/** Counts what a client of AWS sends. */

type Next = (args: object) => Promise<object>

/** The part of an SDK client that is used. Its middleware is typed by its commands. */
interface Client {
  middlewareStack: { add(...args: never[]): unknown }
}

/** Calls `called` for each request of a client from now on, and returns the client. */
export function countRequests<C extends Client>(client: C, called: () => void): C {
  const count = (next: Next) => (args: object) => {
    called()
    return next(args)
  }
  // Runs inside the retry middleware, so that retries count.
  client.middlewareStack.add(...([count, { step: 'finalizeRequest', priority: 'low', name: 'counted' }] as never[]))
  return client
}
