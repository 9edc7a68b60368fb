/** Writes which cluster of EKS is meant as one word, in the place of the name of a secret. No such name has a colon. */

/** A cluster of Amazon EKS, by its name in a region. */
export interface EksCluster {
  region: string
  name: string
}

const REFERENCE = /^eks:([a-z0-9-]+)\/([A-Za-z0-9][A-Za-z0-9_-]*)$/

/** Returns `eks:REGION/NAME`. */
export const eksReference = ({ region, name }: EksCluster): string => `eks:${region}/${name}`

/** Returns undefined for the name of a secret. */
export function parseEksReference(reference: string): EksCluster | undefined {
  const [, region, name] = REFERENCE.exec(reference) ?? []
  return region === undefined || name === undefined ? undefined : { region, name }
}
