/** Reads from a cluster which of its resources can be read without acting on anything. */
import { mayPass, objectIn } from '../../../core/src/answers.ts'
import type { HttpsAnswer } from '../../../core/src/https.ts'
import { repeatedly } from '../api/call.ts'
import { send } from '../api/https.ts'
import { inParallel } from '../api/parallel.ts'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import type { Entry } from '../kubeconfig/entries.ts'
import { note } from '../output/messages.ts'

/** The API groups of a cluster, with the resources that a reader may read. The core group is ''. */
export type ReadableGroups = ReadonlyMap<string, readonly string[]>

const READS = ['get', 'list', 'watch']
/** The only subresources of a reader. Others act although they are GETs: exec, attach and port-forward over WebSocket, and proxies. */
const SUBRESOURCES = ['status', 'scale']

/** Aggregated discovery, which answers for all groups at once. Clusters before 1.30 answer with a list of their groups. */
const ACCEPT = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json'

/** Returns what can be read in the cluster of the entry, whose credential asks for it. */
export async function readableGroups(
  io: Io,
  { cluster, user }: Pick<Entry, 'cluster' | 'user'>,
): Promise<ReadableGroups> {
  const server = String(cluster.server).replace(/\/+$/, '')
  const authority = cluster['certificate-authority-data']
  const request = {
    method: 'GET',
    headers: { accept: ACCEPT, authorization: `Bearer ${user.token}` },
    body: undefined,
    certificateAuthority: typeof authority === 'string' ? Buffer.from(authority, 'base64').toString() : undefined,
    signal: io.signal,
  }
  const get: Get = async (path) => {
    const url = new URL(`${server}${path}`)
    const isSafe = ({ code }: HttpsAnswer) => mayPass(code)
    const { code, text } = await repeatedly(io, { repeatable: true, isSafe }, () => send({ ...request, url }))
    const answer = objectIn(text)
    if (code !== 200 || answer === undefined) throw new CliError(`${url} answered ${code}.`)
    return answer
  }
  const [core, others] = await Promise.all([get('/api'), get('/apis')])
  const isAggregated = [core, others].every(({ kind }) => kind === 'APIGroupDiscoveryList')
  const lists = isAggregated
    ? [core, others].flatMap((one) => resourcesOf(one as unknown as AggregatedGroups))
    : await listEach(io, get, others as unknown as Groups)
  const found = new Map<string, Set<string>>()
  for (const list of lists) {
    const names = found.get(list.group) ?? new Set()
    for (const name of readableIn(list.group, list)) names.add(name)
    if (names.size > 0) found.set(list.group, names)
  }
  return new Map([...found].sort().map(([group, names]) => [group, [...names].sort()]))
}

type Get = (path: string) => Promise<Record<string, unknown>>

/** An APIGroupDiscoveryList. */
interface AggregatedGroups {
  items?: {
    metadata?: { name?: string }
    versions?: {
      resources?: { resource: string; verbs?: string[]; subresources?: { subresource: string; verbs?: string[] }[] }[]
    }[]
  }[]
}

const resourcesOf = ({ items = [] }: AggregatedGroups): (ResourceList & { group: string })[] =>
  items.flatMap(({ metadata, versions = [] }) =>
    versions.map(({ resources = [] }) => ({
      group: metadata?.name ?? '',
      resources: resources.flatMap(({ resource, verbs = [], subresources = [] }) => [
        { name: resource, verbs },
        ...subresources.map((one) => ({ name: `${resource}/${one.subresource}`, verbs: one.verbs ?? [] })),
      ]),
    })),
  )

/** An APIGroupList. */
interface Groups {
  groups?: { versions?: { groupVersion: string }[] }[]
}

/** Asks for each group and version. */
async function listEach(io: Io, get: Get, { groups = [] }: Groups): Promise<(ResourceList & { group: string })[]> {
  const served = groups.flatMap(({ versions = [] }) => versions.map(({ groupVersion }) => groupVersion))
  const lists = await inParallel(['v1', ...served], async (groupVersion) => {
    try {
      const path = `${groupVersion === 'v1' ? '/api' : '/apis'}/${groupVersion}`
      return { group: groupOf(groupVersion), ...((await get(path)) as unknown as ResourceList) }
    } catch (error) {
      // The service of an aggregated API may be away, and then there is nothing to read.
      if (groupVersion === 'v1') throw error
      note(io, `Left out ${groupVersion}: ${(error as Error).message}`)
      return undefined
    }
  })
  return lists.filter((list) => list !== undefined)
}

interface ResourceList {
  resources?: { name: string; verbs?: string[] }[]
}

const groupOf = (groupVersion: string): string => (groupVersion.includes('/') ? (groupVersion.split('/')[0] ?? '') : '')

/** KubeVirt and others serve consoles and port forwards in such groups. */
const acts = (group: string): boolean => group.startsWith('subresources.')

/** Returns the resources of a group that a reader may read. */
export function readableIn(group: string, { resources = [] }: ResourceList): string[] {
  const isReadable = (verbs: readonly string[] = []) => verbs.some((verb) => READS.includes(verb))
  const names = new Set(resources.flatMap(({ name, verbs }) => (isReadable(verbs) && !acts(group) ? [name] : [])))
  return [...names].filter((name) => {
    const [resource = '', subresource, ...more] = name.split('/')
    if (resource === 'secrets' || more.length > 0) return false
    if (subresource === undefined) return true
    const isLog = group === '' && name === 'pods/log'
    return names.has(resource) && (isLog || SUBRESOURCES.includes(subresource))
  })
}
