/**
 * Checks the credential of a long request again and again. One that is revoked, replaced or restricted stops the request. Streamed
 * answers stop within 20 seconds of such a change, even if the client has stopped reading.
 */
import { credentialChanged } from '../meta/errors/status.ts'
import type { RequestContext } from '../registry/kind.ts'
import type { EndpointServices } from './call.ts'
import type { ApiResponse } from './request.ts'

/** How long the result of a check is reused. */
const recheckMs = 10_000
/** How often the credential of a client that has stopped reading is checked. */
const stalledMs = 5_000

/** Reports whether the credential is unchanged since the request was authorized. Reads it at most every 10 seconds; false is final. */
export type CredentialCheck = () => Promise<boolean>

/** Starts the check of a request's credential. Short requests never read it again. */
export async function startCredentialCheck(
  context: RequestContext,
  services: Pick<EndpointServices, 'allowedGeneration' | 'currentGeneration' | 'elapsed'>,
): Promise<CredentialCheck> {
  // Authorization passes on the generation that it has seen: the credential may have changed since.
  const generation = services.allowedGeneration(context) ?? (await services.currentGeneration(context))
  let checked = services.elapsed()
  let holds = true
  return async () => {
    const now = services.elapsed()
    if (!holds || now - checked < recheckMs) return holds
    const current = await services.currentGeneration(context)
    checked = now
    holds &&= current !== undefined && current === generation
    return holds
  }
}

/** Throws 401 once the credential has changed. */
export async function ensureCredentialHolds(check: CredentialCheck): Promise<void> {
  if (!(await check())) throw credentialChanged()
}

/**
 * Streams text until the credential changes. Then the stream fails, which marks a list as incomplete. That of a watch ends instead; if
 * the credential cannot be read, it ends with the text of `failed`. A client that has stopped reading is disconnected.
 */
export function whileCredentialHolds(
  services: Pick<EndpointServices, 'every'>,
  check: CredentialCheck,
  pieces: AsyncIterable<string>,
  { failed }: { failed?: (error: unknown) => string } = {},
): Required<Pick<ApiResponse, 'body' | 'cut'>> {
  const stop = new AbortController()
  async function* stream(): AsyncGenerator<string> {
    let isWaiting = false
    const checkStalled = async (): Promise<void> => {
      if (isWaiting) await ensureCredentialHolds(check).catch((error: unknown) => stop.abort(error))
    }
    const end = services.every(stalledMs, () => void checkStalled())
    try {
      for await (const piece of pieces) {
        if (failed) {
          const held = await check().catch((error: unknown) => ({ error }))
          if (held !== true) {
            if (held) yield failed(held.error)
            return
          }
        } else await ensureCredentialHolds(check)
        isWaiting = true
        yield piece
        isWaiting = false
      }
    } finally {
      end()
    }
  }
  return { body: stream(), cut: stop.signal }
}
