/** Says how AWS names its parts: its partitions, and the hosts of its services in their regions. */

interface Partition {
  /** As in ARNs. */
  name: string
  /** The domain of services, and the one of those that have addresses of IPv6 as well. */
  domain: string
  dualStack: string
}

const DEFAULT: Partition = { name: 'aws', domain: 'amazonaws.com', dualStack: 'api.aws' }

/** The other partitions, by what their regions begin with. Source: partitions.json of the SDKs. */
const PARTITIONS: readonly (readonly [string, Partition])[] = [
  ['cn-', { name: 'aws-cn', domain: 'amazonaws.com.cn', dualStack: 'api.amazonwebservices.com.cn' }],
  ['us-gov-', { name: 'aws-us-gov', domain: 'amazonaws.com', dualStack: 'api.aws' }],
  ['eusc-', { name: 'aws-eusc', domain: 'amazonaws.eu', dualStack: 'api.amazonwebservices.eu' }],
  ['us-iso-', { name: 'aws-iso', domain: 'c2s.ic.gov', dualStack: 'api.aws.ic.gov' }],
  ['us-isob-', { name: 'aws-iso-b', domain: 'sc2s.sgov.gov', dualStack: 'api.aws.scloud' }],
  ['us-isof-', { name: 'aws-iso-f', domain: 'csp.hci.ic.gov', dualStack: 'api.aws.hci.ic.gov' }],
  ['eu-isoe-', { name: 'aws-iso-e', domain: 'cloud.adc-e.uk', dualStack: 'api.cloud-aws.adc-e.uk' }],
]

/** Returns the partition of a region. */
export function partitionOf(region: string): Partition {
  const [, partition = DEFAULT] = PARTITIONS.find(([prefix]) => region.startsWith(prefix)) ?? []
  return partition
}

/** Returns the host of AWS for a service in a region. */
export const awsHost = (service: string, region: string): string => `${service}.${region}.${partitionOf(region).domain}`
