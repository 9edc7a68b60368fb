/** Makes the handlers that list and watch kinds without objects. */
import { emptyCollection } from '../engine/endpoints/watches/emptycollection.ts'
import type { KindInfo } from '../engine/registry/kind.ts'
import type { LambdaHandler } from './lambda/runtime.ts'
import { serve } from './lambda/serve.ts'
import { lazy } from './process/lazy.ts'

/** Loads the server, of 360 KiB with its packages, with the first watch: open watches are counted in the table. */
const store = lazy(async () => {
  const { createServer } = await import('./server.ts')
  return createServer(process.env)
})

/** Returns the handler for GET requests to the collection of a kind without objects. */
export const emptyListHandler = (kind: KindInfo): LambdaHandler =>
  serve(
    (request, { sleep, elapsed, config }) =>
      emptyCollection(request, kind, {
        sleep,
        elapsed,
        watchLimits: config.watchLimits,
        openWatch: async (context) => (await store()).openWatch(context),
      }),
    { streams: true },
  )
