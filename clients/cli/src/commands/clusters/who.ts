/** `keyplane clusters who`: lists the keys and trusts that may get a token for a connected cluster. */

import { REACH_WORDS, type Reach, reachOf } from '../../../../core/src/reaches.ts'
import { isSession } from '../../../../core/src/sessions.ts'
import { lastUseWords } from '../../../../core/src/usage.ts'
import { asCluster, clusterPath, demandClusterName } from '../../api/clusters.ts'
import { asKey, keyPath, trustsPath } from '../../api/keys.ts'
import { listAll } from '../../api/lists.ts'
import { inParallel } from '../../api/parallel.ts'
import { openSession, type Session } from '../../api/session.ts'
import { StatusError } from '../../api/status.ts'
import { readUsage } from '../../api/usage.ts'
import { command } from '../../arguments/command.ts'
import type { Io } from '../../io/io.ts'
import { note } from '../../output/messages.ts'
import { printAs } from '../../output/print.ts'
import { outputTable } from '../../output/table.ts'

/** For how many keys the last use is asked, each with a request. */
const MOST_USES = 200

interface Found {
  kind: 'OwnedAccessKey' | 'FederatedIdentityCredential'
  name: string
  owner: string
  reach: Reach
  isSession: boolean
  lastUse?: string
}

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
    const found = [...(await keysIn(session, name)), ...(await trustsIn(session, name, io))]
    const all = output === 'name' ? found : await withUses(session, name, found, io)
    if (output !== undefined) {
      const items = all.map(({ name: of, ...spec }) => ({ metadata: { name: of }, ...spec }))
      return printAs(output, { kind: 'ClusterReachList', items }, io)
    }
    const rows = all.map((one) => [
      one.name,
      one.kind === 'OwnedAccessKey' ? (one.isSession ? 'key, one command' : 'key') : 'trust',
      one.owner,
      REACH_WORDS[one.reach],
      one.lastUse ?? (one.kind === 'OwnedAccessKey' ? 'unknown' : ''),
    ])
    if (rows.length > 0) io.out(outputTable(['NAME', 'KIND', 'OWNER', 'WHY', 'LAST USE THERE'], rows, io))
    note(io, `${rows.length} of the active keys and trusts that you may list may get a token for ${name}.`)
    await noteAccounts(session, name, io)
  },
})

async function keysIn(session: Session, cluster: string): Promise<Found[]> {
  const { items } = await listAll(session, keyPath())
  return items.map(asKey).flatMap((key) => {
    const reach = key.status?.phase === 'Active' ? reachOf(key, cluster) : undefined
    const { metadata, status } = key
    if (reach === undefined || status?.target !== undefined) return []
    return [
      {
        kind: 'OwnedAccessKey' as const,
        name: metadata.name,
        owner: status?.owner ?? '',
        reach,
        isSession: isSession(key),
      },
    ]
  })
}

async function trustsIn(session: Session, cluster: string, io: Io): Promise<Found[]> {
  const list = await listAll(session, trustsPath()).catch((error: unknown) => {
    if (!(error instanceof StatusError) || error.code !== 403) throw error
    note(io, `Trusts are left out: ${error.message.split('\n')[0]}`)
  })
  return (list?.items ?? []).map(asKey).flatMap((trust) => {
    const reach = trust.status?.phase === 'Active' ? reachOf(trust, cluster) : undefined
    if (reach === undefined) return []
    const { metadata, status } = trust
    return [
      {
        kind: 'FederatedIdentityCredential' as const,
        name: metadata.name,
        owner: status?.owner ?? '',
        reach,
        isSession: false,
      },
    ]
  })
}

/** Adds when keys were last used in the cluster, as far as that is recorded and for the reader. */
async function withUses(session: Session, cluster: string, found: readonly Found[], io: Io): Promise<Found[]> {
  const keys = found.filter(({ kind }) => kind === 'OwnedAccessKey')
  if (keys.length > MOST_USES) note(io, `The last use is shown for the first ${MOST_USES} of ${keys.length} keys.`)
  const asked = new Set(keys.slice(0, MOST_USES))
  return inParallel(found, async (one) => {
    if (!asked.has(one)) return one
    const read = await readUsage(session, one.name).catch((error: unknown) => {
      if (!(error instanceof StatusError) || ![403, 404].includes(error.code)) throw error
    })
    return read === undefined ? one : { ...one, lastUse: lastUseWords(read.usage, `clusters/${cluster}`) }
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
