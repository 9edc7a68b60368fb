/** Writes which cluster of EKS is meant as one word, in the place of the name of a secret. No such name has a colon. */
import { partitionOf } from '../../engine/outbound/awspartitions.ts'

/** A cluster of Amazon EKS, by its name in a region. Clusters of several accounts may have the same. */
export interface EksName {
  region: string
  name: string
}

const REFERENCE = /^eks:([a-z0-9-]+)\/([A-Za-z0-9][A-Za-z0-9_-]*)$/

/** Returns `eks:REGION/NAME`. */
export const eksReference = ({ region, name }: EksName): string => `eks:${region}/${name}`

/** Returns undefined for the name of a secret. */
export function parseEksReference(reference: string): EksName | undefined {
  const [, region, name] = REFERENCE.exec(reference) ?? []
  return region === undefined || name === undefined ? undefined : { region, name }
}

/** Returns what the hosts of the clusters of a region end in: with addresses of IPv4 only, and of both. */
export function eksDomains(region: string): [string, string] {
  const { domain, dualStack } = partitionOf(region)
  return [`.${region}.eks.${domain}`, `.eks-cluster.${region}.${dualStack}`]
}

/** Reports whether an https URL is one of a cluster of EKS in the region. */
export function isEksServer(server: string, region: string): boolean {
  const { hostname = '' } = URL.parse(server) ?? {}
  return eksDomains(region).some((domain) => hostname.endsWith(domain) && hostname.length > domain.length)
}
