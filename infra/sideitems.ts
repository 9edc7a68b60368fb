/**
 * The table of side items: what functions store beside the rows of objects, by the prefix of its partition. A grant (stack/grants.ts)
 * of a partition that is neither here nor of a kind does not compile, so that no function writes what a restore does not know.
 */
interface Row {
  /**
   * What a restore (restore.ts) does: the items of the other table `replace` those of the deployment, or it may `merge` both, where an
   * item of the deployment wins, as it is never older. It may `keep` only its own, or `drop` all.
   */
  restore: 'replace' | 'merge' | 'keep' | 'drop'
  /** Set if the items follow from objects. Repairs remove those that no object explains (repair.ts). */
  isDerived?: true
}

const sideItems = {
  credential: { restore: 'replace', isDerived: true },
  trust: { restore: 'replace' },
  provider: { restore: 'replace' },
  owner: { restore: 'replace', isDerived: true },
  collector: { restore: 'replace' },
  watches: { restore: 'replace' },
  // No ID token can be exchanged again: one that was given back may have been exchanged since.
  exchange: { restore: 'merge' },
  ended: { restore: 'merge' },
  // What keys did and what happened to them is for people to read.
  history: { restore: 'merge' },
  usage: { restore: 'merge' },
  // What has been published, and since when usage is recorded: a restore neither repeats nor hides it.
  signal: { restore: 'keep' },
  told: { restore: 'keep' },
  lifecycle: { restore: 'keep' },
  recording: { restore: 'keep' },
  // A Secret of the deployment is still in its cluster, and its key is judged as it is restored. What was removed is removed again.
  bound: { restore: 'merge' },
  boundplace: { restore: 'merge' },
  ending: { restore: 'merge' },
  // Since when keys that nobody uses end. In a restored table keys look unused that are in use: the time counts anew.
  unused: { restore: 'drop' },
  // The keys of issuers are fetched again.
  jwks: { restore: 'drop' },
} as const satisfies Record<string, Row>

type Prefix = keyof typeof sideItems
export type SidePartition = Prefix | `${Prefix}#${string}`

/** Returns the row of a side item; undefined for the items of kinds. */
export function sideItemIn(partition: string): Row | undefined {
  const [prefix = ''] = partition.split('#', 1)
  return Object.hasOwn(sideItems, prefix) ? sideItems[prefix as Prefix] : undefined
}
