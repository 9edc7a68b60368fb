/** Assumes the role that clusters of Amazon EKS know. Source: AWS Security Token Service API Reference, AssumeRole. */
import type { AwsCredentials } from '../../engine/outbound/awssignature.ts'
import { OutboundError } from '../../engine/outbound/failure.ts'
import { type Aws, askAws } from './awsservice.ts'

/** The longest life of a role that a role assumes. */
const SECONDS = 3600

/** AWS did not give the role. The message quotes nothing of its answer. */
export class RoleRefused extends Error {}

/** The values of these elements have no characters that XML escapes. */
const ELEMENTS = [
  /<AccessKeyId>\s*([\w/+=]+)\s*<\/AccessKeyId>/,
  /<SecretAccessKey>\s*([\w/+=]+)\s*<\/SecretAccessKey>/,
  /<SessionToken>\s*([\w/+=]+)\s*<\/SessionToken>/,
]

/**
 * Returns the credentials of the role, which are valid for an hour. Rejects with RoleRefused, or with an OutboundError.
 */
export async function assumeRole(role: string, session: string, aws: Aws): Promise<AwsCredentials> {
  const parameters = { Action: 'AssumeRole', Version: '2011-06-15', RoleArn: role, RoleSessionName: session }
  const { status, body } = await askAws(
    {
      service: 'sts',
      region: aws.region,
      method: 'POST',
      path: '/',
      contentType: 'application/x-www-form-urlencoded',
      body: new URLSearchParams({ ...parameters, DurationSeconds: String(SECONDS) }).toString(),
    },
    aws,
  )
  if (status === 403) throw new RoleRefused('AWS refuses the role')
  if (status !== 200) throw new RoleRefused(`AWS answered ${status}`)
  const text = body.toString('utf8')
  const [accessKeyId, secretAccessKey, sessionToken] = ELEMENTS.map((element) => {
    const [, value] = element.exec(text) ?? []
    if (value === undefined) throw new OutboundError('garbage')
    return value
  }) as [string, string, string]
  return { accessKeyId, secretAccessKey, sessionToken }
}
