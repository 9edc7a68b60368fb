/** Reads from a cluster which of its resources can be read without acting on anything. */
import type { JsonObject } from '../../../../lib/meta/types.ts'
import { objectIn } from '../../../core/src/answers.ts'
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

/** Returns what can be read in the cluster of the entry, whose credential asks for it. */
export async function readableGroups(
  io: Io,
  { cluster, user }: Pick<Entry, 'cluster' | 'user'>,
): Promise<ReadableGroups> {
  const server = String(cluster.server).replace(/\/+$/, '')
  const authority = cluster['certificate-authority-data']
  const get = async (path: string): Promise<JsonObject> => {
    const { code, text } = await send({
      url: new URL(`${server}${path}`),
      method: 'GET',
      headers: { accept: 'application/json', authorization: `Bearer ${user.token}` },
      body: undefined,
      certificateAuthority: typeof authority === 'string' ? Buffer.from(authority, 'base64').toString() : undefined,
      signal: io.signal,
    })
    const answer = objectIn(text) as JsonObject | undefined
    if (code !== 200 || answer === undefined) throw new CliError(`${server}${path} answered ${code}.`)
    return answer
  }
  const { groups } = (await get('/apis')) as unknown as { groups?: { versions?: { groupVersion: string }[] }[] }
  const served = (groups ?? []).flatMap(({ versions = [] }) => versions.map(({ groupVersion }) => groupVersion))
  const lists = await inParallel(['v1', ...served.filter((one) => !acts(groupOf(one)))], async (groupVersion) => {
    try {
      const path = `${groupVersion === 'v1' ? '/api' : '/apis'}/${groupVersion}`
      return { group: groupOf(groupVersion), list: (await get(path)) as unknown as ResourceList }
    } catch (error) {
      // The service of an aggregated API may be away, and then there is nothing to read.
      if (groupVersion === 'v1') throw error
      note(io, `Left out ${groupVersion}: ${(error as Error).message}`)
      return undefined
    }
  })
  const found = new Map<string, Set<string>>()
  for (const { group, list } of lists.filter((one) => one !== undefined)) {
    const names = found.get(group) ?? new Set()
    for (const name of readableIn(group, list)) names.add(name)
    if (names.size > 0) found.set(group, names)
  }
  return new Map([...found].sort().map(([group, names]) => [group, [...names].sort()]))
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
