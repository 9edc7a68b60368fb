/** Assumes the role that clusters of Amazon EKS know. Source: AWS Security Token Service API Reference, AssumeRole. */
import { type AwsCredentials, signatures } from '../../engine/outbound/awssignature.ts'
import { OutboundError } from '../../engine/outbound/failure.ts'
import { sendHttps } from '../../engine/outbound/https.ts'

/** How STS is reached. */
export interface Sts {
  /** An https URL without a path. */
  endpoint: string
  /** Those of the function. */
  credentials(): AwsCredentials
  /** The region of the deployment. */
  region: string
  now(): Date
  /** Returns a signal that ends a request after so many milliseconds. */
  deadline(ms: number): AbortSignal
  /** PEM of an authority that is not public. */
  certificateAuthority?: string
}

/** The longest life of a role that a role assumes. */
const SECONDS = 3600
const TIMEOUT_MS = 5000
const MAX_ANSWER_BYTES = 256 * 1024

/** AWS did not give the role. The message quotes nothing of its answer. */
export class RoleRefused extends Error {}

/** The values of these elements have no characters that XML escapes. */
const ELEMENTS = [
  /<AccessKeyId>\s*([\w/+=]+)\s*<\/AccessKeyId>/,
  /<SecretAccessKey>\s*([\w/+=]+)\s*<\/SecretAccessKey>/,
  /<SessionToken>\s*([\w/+=]+)\s*<\/SessionToken>/,
]

const sign = signatures('sts')

/**
 * Returns the credentials of the role, which are valid for an hour. Rejects with RoleRefused, or with an OutboundError.
 */
export async function assumeRole(role: string, session: string, sts: Sts): Promise<AwsCredentials> {
  const parameters = { Action: 'AssumeRole', Version: '2011-06-15', RoleArn: role, RoleSessionName: session }
  const body = new URLSearchParams({ ...parameters, DurationSeconds: String(SECONDS) }).toString()
  const url = new URL('/', sts.endpoint)
  const signed: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded', host: url.host }
  sign({ method: 'POST', path: url.pathname, headers: signed, body }, sts.now(), sts.region, sts.credentials())
  const { host: _, ...headers } = signed
  const answer = await sendHttps({
    url,
    method: 'POST',
    headers: { ...headers, accept: 'text/xml' },
    body,
    signal: sts.deadline(TIMEOUT_MS),
    maxBytes: MAX_ANSWER_BYTES,
    ...(sts.certificateAuthority !== undefined && { certificateAuthority: sts.certificateAuthority }),
  })
  if (answer.status === 403) throw new RoleRefused('AWS refuses the role')
  if (answer.status !== 200) throw new RoleRefused(`AWS answered ${answer.status}`)
  const text = answer.body.toString('utf8')
  const [accessKeyId, secretAccessKey, sessionToken] = ELEMENTS.map((element) => {
    const [, value] = element.exec(text) ?? []
    if (value === undefined) throw new OutboundError('garbage')
    return value
  }) as [string, string, string]
  return { accessKeyId, secretAccessKey, sessionToken }
}
