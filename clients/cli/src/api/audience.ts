/** Reads the targets of an exchange as people write them. */
import { UsageError } from '../io/errors.ts'
import { audienceOf, NAMED_CLUSTERS } from './exchange.ts'
import { type ClusterTarget, connectedCluster, virtualCluster } from './target.ts'

/** Stands for all connected clusters that a trust names. */
export const ALL = '*'

/** Returns the target in a text: a connected cluster, or a virtual one with its project. Throws a UsageError for another text. */
export const clusterTarget = (text: string): ClusterTarget =>
  text.includes('/') ? virtualCluster(text) : connectedCluster(text)

/** Returns the audience that a text means. Throws a UsageError for a text that names no cluster. */
export const audienceIn = (text: string): string => (text === ALL ? NAMED_CLUSTERS : audienceOf(clusterTarget(text)))

/** Returns the targets, or `*`. Throws a UsageError if that is not alone. */
export function clusterTargets(texts: readonly string[]): ClusterTarget[] | typeof ALL {
  if (!texts.includes(ALL)) return [...new Map(texts.map((text) => [text, clusterTarget(text)])).values()]
  if (texts.length > 1) throw new UsageError('* stands for all connected clusters: give no other.')
  return ALL
}
