/**
 * Answers CloudFormation for two custom resources. The attribute Description of Custom::Release is the release and a digest of the other
 * properties, which are the settings that functions have: versions of functions are published when it changes. Custom::Versions publishes
 * the functions that no rollout shifts.
 * Source: AWS CloudFormation User Guide, "Custom resource request reference" and "Custom resource response reference".
 */
import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Connection, connectionOf } from './lambda/lambdaapi.ts'
import { publishVersions } from './publish.ts'

/** The part of a request that the response depends on. */
interface ResourceRequest {
  RequestType: string
  ResourceType: string
  ResponseURL: string
  StackId: string
  RequestId: string
  LogicalResourceId: string
  ResourceProperties: Readonly<Record<string, unknown>>
}

/** The properties of Custom::Versions. */
interface VersionsProperties {
  Alias: string
  Description: string
  Functions: readonly { Name: string; CodeSha256: string }[]
}

type Outcome = { Status: 'SUCCESS'; Data?: object } | { Status: 'FAILED'; Reason: string }

/** How often the response is sent. CloudFormation waits for it up to ServiceTimeout, then the update fails. */
const ATTEMPTS = 3
const PAUSE_MS = 1000

/** Returns the handler. It fails when CloudFormation does not take the response. */
export function releaseHandler(pauseMs = PAUSE_MS, connection: Connection = connectionOf(process.env)) {
  return async (request: ResourceRequest) => {
    const { ResponseURL, StackId, RequestId, LogicalResourceId, ResourceType } = request
    const versions = ResourceType === 'Custom::Versions'
    const outcome = versions ? await publish(request, connection, pauseMs) : describe(request)
    const body = JSON.stringify({
      ...outcome,
      // Always the same: another one would make CloudFormation replace the resource.
      PhysicalResourceId: versions ? 'versions' : 'release',
      StackId,
      RequestId,
      LogicalResourceId,
    })
    for (let attempt = 1; ; attempt++) {
      const problem = await send(ResponseURL, body)
      if (problem === undefined) return
      if (attempt === ATTEMPTS) throw new Error(`CloudFormation did not take the response: ${problem}`)
      await delay(pauseMs)
    }
  }
}

function describe({ ResourceProperties }: ResourceRequest): Outcome {
  const { ServiceToken: _, ServiceTimeout: __, Release, ...settings } = ResourceProperties
  const sorted = JSON.stringify(Object.entries(settings).sort(([one], [other]) => (one < other ? -1 : 1)))
  const digest = createHash('sha256').update(sorted).digest('hex').slice(0, 16)
  return { Status: 'SUCCESS', Data: { Description: `${Release} ${digest}` } }
}

async function publish(
  { RequestType, ResourceProperties }: ResourceRequest,
  connection: Connection,
  pauseMs: number,
): Promise<Outcome> {
  // Versions and aliases are deleted with their functions.
  if (RequestType === 'Delete') return { Status: 'SUCCESS' }
  const { Alias: alias, Description: description, Functions } = ResourceProperties as unknown as VersionsProperties
  const functions = Functions.map(({ Name: name, CodeSha256: codeSha256 }) => ({ name, codeSha256 }))
  try {
    await publishVersions({ alias, description, functions }, connection, pauseMs)
    return { Status: 'SUCCESS' }
  } catch (error) {
    return { Status: 'FAILED', Reason: `functions cannot be published: ${(error as Error).message}` }
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
