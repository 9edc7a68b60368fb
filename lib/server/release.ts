/**
 * Answers CloudFormation for the resource Custom::Release. Its attribute Description is the release and a digest of the other
 * properties, which are the settings that functions have: versions of functions are published when it changes.
 * Source: AWS CloudFormation User Guide, "Custom resource request reference" and "Custom resource response reference".
 */
import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

/** The part of a request that the response depends on. */
interface ResourceRequest {
  ResponseURL: string
  StackId: string
  RequestId: string
  LogicalResourceId: string
  ResourceProperties: Readonly<Record<string, unknown>>
}

/** How often the response is sent. CloudFormation waits for it up to ServiceTimeout, then the update fails. */
const ATTEMPTS = 3
const PAUSE_MS = 1000

/** Returns the handler. It fails when CloudFormation does not take the response. */
export function releaseHandler(pauseMs = PAUSE_MS) {
  return async ({ ResponseURL, StackId, RequestId, LogicalResourceId, ResourceProperties }: ResourceRequest) => {
    const { ServiceToken: _, ServiceTimeout: __, Release, ...settings } = ResourceProperties
    const sorted = JSON.stringify(Object.entries(settings).sort(([one], [other]) => (one < other ? -1 : 1)))
    const digest = createHash('sha256').update(sorted).digest('hex').slice(0, 16)
    const body = JSON.stringify({
      Status: 'SUCCESS',
      // Always the same: another one would make CloudFormation replace the resource.
      PhysicalResourceId: 'release',
      StackId,
      RequestId,
      LogicalResourceId,
      Data: { Description: `${Release} ${digest}` },
    })
    for (let attempt = 1; ; attempt++) {
      const problem = await send(ResponseURL, body)
      if (problem === undefined) return
      if (attempt === ATTEMPTS) throw new Error(`CloudFormation did not take the response: ${problem}`)
      await delay(pauseMs)
    }
  }
}

/** Returns why the response was not taken, or undefined. The presigned URL has no content type, so the request must have none. */
async function send(url: string, body: string): Promise<string | undefined> {
  try {
    const { ok, status } = await fetch(url, { method: 'PUT', body: Buffer.from(body) })
    return ok ? undefined : String(status)
  } catch (error) {
    return (error as Error).name
  }
}
