/** `keyplane clusters who` and `keyplane virtual-clusters who`: list the keys and trusts that get into a cluster. */

import type { AccessKey, VirtualCluster } from '../../../../core/src/objects.ts'
import { REACH_WORDS, type Reach, reachOf } from '../../../../core/src/reaches.ts'
import { isSession } from '../../../../core/src/sessions.ts'
import { lastUseWords } from '../../../../core/src/usage.ts'
import { type VirtualReach, virtualReachOf, virtualReachWords } from '../../../../core/src/virtualreaches.ts'
import { asCluster, clusterPath, demandClusterName } from '../../api/clusters.ts'
import { asKey, keyPath, trustsPath } from '../../api/keys.ts'
import { listAll } from '../../api/lists.ts'
import { inParallel } from '../../api/parallel.ts'
import { projectPrefix } from '../../api/projects.ts'
import { openSession, type Session } from '../../api/session.ts'
import { StatusError } from '../../api/status.ts'
import { readUsage } from '../../api/usage.ts'
import { command, type Format } from '../../arguments/command.ts'
import type { Io } from '../../io/io.ts'
import { note } from '../../output/messages.ts'
import { printAs } from '../../output/print.ts'
import { outputTable } from '../../output/table.ts'
import { virtualClusters } from '../objects/kinds.ts'

/** For how many keys the last use is asked, each with a request. */
const MOST_USES = 200

/** Why a key or a trust gets in. A connected cluster has no right of its own: tokens are for whom scopes let. */
type Why = { reach: Reach } | VirtualReach

interface Found {
  kind: 'OwnedAccessKey' | 'FederatedIdentityCredential'
  name: string
  owner: string
  why: Why
  isSession: boolean
  lastUse?: string
}

/** The cluster that is asked about. */
interface Place {
  /** As usage names it. */
  id: string
  whyOf(holder: AccessKey): Why | undefined
}

const wordsOf = (why: Why): string => ('right' in why ? virtualReachWords(why) : REACH_WORDS[why.reach])

export const clustersWho = command({
  name: ['clusters', 'who'],
  summary: 'List the keys and trusts that may get a token for a connected cluster, and why',
  description:
    'Of the active keys and trusts that you may list, these may get a token for the cluster. What a token may do there is up to its scope and the RBAC of the cluster. The keys with which clusters ask keyplane are left out. Scopes that a key was made with, and that only the server knows, may limit it further.',
  positionals: [{ name: 'NAME', help: 'name of the cluster', names: 'clusters' }],
  options: {},
  formats: ['json', 'yaml', 'name'],
  examples: [
    { does: 'List who may get into the cluster eu', run: 'keyplane clusters who eu' },
    { does: 'Print the names of the keys and trusts, for scripts', run: 'keyplane clusters who eu -o name' },
  ],
  async run({ values: { context, output }, positionals: [name = ''] }, io) {
    demandClusterName(name)
    const session = await openSession(io, { context })
    const whyOf: Place['whyOf'] = (holder) => {
      const reach = reachOf(holder, name)
      return reach && { reach }
    }
    const count = await printWho(session, { id: `clusters/${name}`, whyOf }, output, io)
    if (count === undefined) return
    note(io, `${count} of the active keys and trusts that you may list may get a token for ${name}.`)
    await noteAccounts(session, name, io)
  },
})

export const virtualClustersWho = command({
  name: ['virtual-clusters', 'who'],
  summary: 'List the keys and trusts that may get a kube config of a virtual cluster, and why',
  description:
    'Of the active keys and trusts that you may list, these may get a kube config: their scopes allow it, and the virtual cluster has them as its owner or in its access rules. Scopes that a key was made with, and that only the server knows, may limit it further.',
  positionals: [{ name: 'PROJECT/NAME', help: 'the virtual cluster', names: 'virtual-clusters' }],
  options: {},
  formats: ['json', 'yaml', 'name'],
  examples: [{ does: 'List who may get into shop/dev', run: 'keyplane virtual-clusters who shop/dev' }],
  async run({ values: { context, output }, positionals: [name = ''] }, io) {
    const session = await openSession(io, { context })
    const instance = (await session.get(await virtualClusters.path(session, name))) as unknown as VirtualCluster
    const prefix = await projectPrefix(session)
    const id = `virtualclusters/${instance.metadata.namespace}/${instance.metadata.name}`
    const whyOf: Place['whyOf'] = (holder) => virtualReachOf(holder, instance, prefix)
    const count = await printWho(session, { id, whyOf }, output, io)
    if (count === undefined) return
    note(io, `${count} of the active keys and trusts that you may list may get a kube config of ${name}.`)
  },
})

/** Prints who gets in. Returns how many there are, unless programs read the answer. */
async function printWho(session: Session, place: Place, output: Format | undefined, io: Io) {
  const found = [...(await keysIn(session, place)), ...(await trustsIn(session, place, io))]
  const all = output === 'name' ? found : await withUses(session, place, found, io)
  if (output !== undefined) {
    const items = all.map(({ name, why, ...spec }) => ({ metadata: { name }, ...spec, ...why }))
    await printAs(output, { kind: 'ClusterReachList', items }, io)
    return undefined
  }
  const rows = all.map((one) => [
    one.name,
    one.kind === 'OwnedAccessKey' ? (one.isSession ? 'key, one command' : 'key') : 'trust',
    one.owner,
    wordsOf(one.why),
    one.lastUse ?? (one.kind === 'OwnedAccessKey' ? 'unknown' : ''),
  ])
  if (rows.length > 0) io.out(outputTable(['NAME', 'KIND', 'OWNER', 'WHY', 'LAST USE THERE'], rows, io))
  return rows.length
}

async function keysIn(session: Session, place: Place): Promise<Found[]> {
  const { items } = await listAll(session, keyPath())
  return items.map(asKey).flatMap((key) => {
    const { metadata, status } = key
    const why = status?.phase === 'Active' && status.target === undefined ? place.whyOf(key) : undefined
    if (why === undefined) return []
    const { name } = metadata
    return [{ kind: 'OwnedAccessKey' as const, name, owner: status?.owner ?? '', why, isSession: isSession(key) }]
  })
}

async function trustsIn(session: Session, place: Place, io: Io): Promise<Found[]> {
  const list = await listAll(session, trustsPath()).catch((error: unknown) => {
    if (!(error instanceof StatusError) || error.code !== 403) throw error
    note(io, `Trusts are left out: ${error.message.split('\n')[0]}`)
  })
  return (list?.items ?? []).map(asKey).flatMap((trust) => {
    const { metadata, status } = trust
    const why = status?.phase === 'Active' ? place.whyOf(trust) : undefined
    if (why === undefined) return []
    const { name } = metadata
    return [{ kind: 'FederatedIdentityCredential' as const, name, owner: status?.owner ?? '', why, isSession: false }]
  })
}

/** Adds when keys were last used in the cluster, as far as that is recorded and for the reader. */
async function withUses(session: Session, { id }: Place, found: readonly Found[], io: Io): Promise<Found[]> {
  const keys = found.filter(({ kind }) => kind === 'OwnedAccessKey')
  if (keys.length > MOST_USES) note(io, `The last use is shown for the first ${MOST_USES} of ${keys.length} keys.`)
  const asked = new Set(keys.slice(0, MOST_USES))
  return inParallel(found, async (one) => {
    if (!asked.has(one)) return one
    const read = await readUsage(session, one.name).catch((error: unknown) => {
      if (!(error instanceof StatusError) || ![403, 404].includes(error.code)) throw error
    })
    return read === undefined ? one : { ...one, lastUse: lastUseWords(read.usage, id) }
  })
}

/** Says that more than a scope decides where service accounts issue the tokens. */
async function noteAccounts(session: Session, name: string, io: Io): Promise<void> {
  const object = await session.get(clusterPath(name)).catch((error: unknown) => {
    if (!(error instanceof StatusError)) throw error
  })
  if (object === undefined || asCluster(object).spec?.tokens !== 'ServiceAccounts') return
  note(io, 'Service accounts issue its tokens: of these, only those whom its spec.access lets use it get one.')
}
