/** Asks Amazon EKS where a cluster is. Source: Amazon EKS API Reference, DescribeCluster. */
import { parseJson } from '../../engine/meta/encoding/json.ts'
import { OutboundError } from '../../engine/outbound/failure.ts'
import { memberOf } from '../cluster/members.ts'
import { fromBase64, parseCertificates, toPem } from '../cluster/pem.ts'
import { isServerUrl } from '../cluster/serverurl.ts'
import { type Aws, askAws } from './awsservice.ts'
import type { EksCluster } from './reference.ts'

/** The address of a cluster, and the authority that signs its certificate, in PEM. */
export interface EksAddress {
  server: string
  certificateAuthority: string
}

/** EKS does not say where the cluster is, and will not until somebody changes something. The message is public. */
export class NotDescribed extends Error {}

/** Returns where the cluster is. Rejects with NotDescribed, or with an OutboundError when EKS cannot say it at the moment. */
export async function describeCluster({ region, name }: EksCluster, aws: Aws): Promise<EksAddress> {
  const { status, body } = await askAws(
    { service: 'eks', region, method: 'GET', path: `/clusters/${name}`, contentType: 'application/json', body: '' },
    aws,
  )
  if (status === 404) throw new NotDescribed(`Amazon EKS has no cluster ${name} in ${region}`)
  if (status === 403)
    throw new NotDescribed(
      `the deployment may not describe cluster ${name} in ${region}: the setting eks-cluster-arns must list its ARN`,
    )
  if (status !== 200) throw new OutboundError(status === 429 || status >= 500 ? 'unroutable' : 'garbage')
  const described = memberOf(answerOf(body), 'cluster')
  const server = memberOf(described, 'endpoint')
  const data = memberOf(memberOf(described, 'certificateAuthority'), 'data')
  const authorities = typeof data === 'string' ? parseCertificates(fromBase64(data) ?? '') : undefined
  // A cluster that is being created has neither.
  if (typeof server !== 'string' || !isServerUrl(server) || !authorities)
    throw new NotDescribed(`cluster ${name} in ${region} has no address yet`)
  return { server, certificateAuthority: toPem(authorities) }
}

function answerOf(body: Buffer): unknown {
  try {
    return parseJson(body.toString('utf8')).value
  } catch {
    throw new OutboundError('garbage')
  }
}
