/**
 * Makes the bearer token with which a role of IAM authenticates to a cluster of Amazon EKS: the address of a request that asks AWS who
 * signed it. The cluster sends that request. Source: aws-iam-authenticator, "API authorization from outside a cluster".
 */
import { awsHost } from '../../engine/outbound/awspartitions.ts'
import { type AwsCredentials, presignedUrl } from '../../engine/outbound/awssignature.ts'

/** The header with the name of the cluster. It is signed, so a cluster can present the token only to others of the same name. */
const CLUSTER = 'x-k8s-aws-id'
/** Authenticators refuse more than 900. AWS accepts the request for 15 minutes in any case. */
const SECONDS = 60

/**
 * Returns the token for clusters of this name. They ask the STS of `region`: authenticators accept every one of their partition, and the
 * account of the deployment may not have enabled the region of the cluster.
 */
export function eksBearer(cluster: string, region: string, credentials: AwsCredentials, now: Date): string {
  const url = presignedUrl(
    {
      service: 'sts',
      region,
      host: awsHost('sts', region),
      query: { Action: 'GetCallerIdentity', Version: '2011-06-15' },
      headers: { [CLUSTER]: cluster },
      seconds: SECONDS,
    },
    now,
    credentials,
  )
  return `k8s-aws-v1.${Buffer.from(url).toString('base64url')}`
}
