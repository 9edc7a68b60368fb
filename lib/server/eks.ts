/** Connects to STS, which gives the role that clusters of Amazon EKS know, with the credentials of the function. */

import { createEks, type Eks } from '../clusters/eks/ekscredentials.ts'
import { awsHost } from '../engine/outbound/awspartitions.ts'
import { connectionOf } from './lambda/lambdaapi.ts'
import type { Environment } from './process/environment.ts'

/** Returns the credentials of clusters for the role of the deployment. */
export function eksOf(environment: Environment, role: string | undefined, now: () => Date): Eks {
  const { region } = connectionOf(environment)
  const { AWS_ENDPOINT_URL_STS, AWS_ENDPOINT_URL } = environment
  return createEks(role, {
    endpoint: AWS_ENDPOINT_URL_STS ?? AWS_ENDPOINT_URL ?? `https://${awsHost('sts', region)}`,
    credentials: () => connectionOf(environment),
    region,
    now,
    deadline: (ms) => AbortSignal.timeout(ms),
  })
}
