/**
 * A request that goes on for long asks about its key again: one that is revoked, rotated or narrowed ends it. Answers that
 * are sent in pieces end within 20 seconds of that, whether the client takes them or not.
 */
import { keyChanged } from '../meta/errors/status.ts'
import type { Exchange } from './exchange.ts'
import type { ApiResponse } from './request.ts'

/** How long an answer about the key is believed. */
const recheckMs = 10_000
/** How often a client that takes nothing is looked after. */
const stalledMs = 5_000

/** Reports whether the key is as it was when the request was allowed. Asks every 10 seconds at most; no is for good. */
export type KeyCheck = () => Promise<boolean>

/** Begins to look after the key of a request; reads nothing as long as the request is short. */
export async function keyCheck({ context, services }: Pick<Exchange, 'context' | 'services'>): Promise<KeyCheck> {
  // As it was when the request was allowed: what it is by now may have changed since.
  const generation = context.user.key.generation ?? (await services.keyGeneration(context))
  let checked = services.elapsed()
  let holds = true
  return async () => {
    const now = services.elapsed()
    if (!holds || now - checked < recheckMs) return holds
    checked = now
    const current = await services.keyGeneration(context)
    holds &&= current !== undefined && current === generation
    return holds
  }
}

/** Throws 401 once the key is no longer as it was. */
export async function demandKey(check: KeyCheck): Promise<void> {
  if (!(await check())) throw keyChanged()
}

/**
 * Text in pieces, as long as the key holds: then it fails, or ends where that is no lie (`endless`). A client that takes
 * nothing is cut off.
 */
export function whileKeyHolds(
  { services }: Pick<Exchange, 'services'>,
  check: KeyCheck,
  pieces: AsyncIterable<string>,
  { endless = false } = {},
): Required<Pick<ApiResponse, 'body' | 'cut'>> {
  const stop = new AbortController()
  async function* held(): AsyncGenerator<string> {
    let isWaiting = false
    const lookAfter = async (): Promise<void> => {
      if (isWaiting) await demandKey(check).catch((error: unknown) => stop.abort(error))
    }
    const end = services.every(stalledMs, () => void lookAfter())
    try {
      for await (const piece of pieces) {
        if (endless && !(await check())) return
        await demandKey(check)
        isWaiting = true
        yield piece
        isWaiting = false
      }
    } finally {
      end()
    }
  }
  return { body: held(), cut: stop.signal }
}
