/** Connects to the services of AWS that lead to clusters of Amazon EKS, with the credentials of the function. */

import { createEks, type Eks } from '../clusters/eks/ekscredentials.ts'
import { awsHost } from '../engine/outbound/awssignature.ts'
import { connectionOf } from './lambda/lambdaapi.ts'
import type { Environment } from './process/environment.ts'

/** Returns the credentials of clusters for the role of the deployment. */
export const eksOf = (environment: Environment, role: string | undefined, now: () => Date): Eks =>
  createEks(role, {
    endpoint: (service, region) =>
      environment[`AWS_ENDPOINT_URL_${service.toUpperCase()}`] ??
      environment.AWS_ENDPOINT_URL ??
      `https://${awsHost(service, region)}`,
    credentials: () => connectionOf(environment),
    region: connectionOf(environment).region,
    now,
    deadline: (ms) => AbortSignal.timeout(ms),
  })
