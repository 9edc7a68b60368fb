/** Reads the safe part of a kube config (client-go's Config v1): what its current context selects. */
import { child, isObject } from '../../engine/meta/value/walk.ts'
import { type Members, type Refuse, readItems, readMembers, readText } from './members.ts'
import { fromBase64 } from './pem.ts'

/** Unvalidated credentials of a virtual cluster, as text and PEM. */
export interface WrittenCredentials {
  server: string | undefined
  certificateAuthority: string | undefined
  certificate: string | undefined
  key: string | undefined
  token: string | undefined
  /** Returns the path of each member, for error messages. */
  place(name: 'server' | 'certificateAuthority' | 'certificate' | 'key' | 'token'): string
}

const TOP = ['apiVersion', 'kind', 'preferences', 'clusters', 'users', 'contexts', 'current-context'] as const
const CLUSTER = ['server', 'certificate-authority-data'] as const
const USER = ['token', 'client-certificate-data', 'client-key-data'] as const
const CONTEXT = ['cluster', 'user', 'namespace'] as const

/**
 * Reads a parsed kube config; `at` is its path. Every entry is read by allow-list, even those that the current context
 * does not use: a file with `exec` anywhere must not be accepted.
 */
export function readKubeConfig(value: unknown, at: string, refuse: Refuse): WrittenCredentials {
  const place = (name: string) => child(at, name)
  const top = readMembers(value, at, TOP, refuse)
  if (top.kind !== 'Config') refuse(place('kind'), 'is not Config')
  if (top.apiVersion !== 'v1') refuse(place('apiVersion'), 'is not v1')
  if (isObject(top.preferences) && Object.keys(top.preferences).length > 0)
    refuse(place('preferences'), 'is not accepted')

  const clusters = entries(top.clusters, place('clusters'), 'cluster', CLUSTER, refuse)
  const users = entries(top.users, place('users'), 'user', USER, refuse)
  const contexts = entries(top.contexts, place('contexts'), 'context', CONTEXT, refuse)
  const current = readText(top['current-context'], place('current-context'), refuse)
  const context = find(contexts, current, place('current-context'), refuse)
  const cluster = find(clusters, context.value.cluster, child(context.place, 'cluster'), refuse)
  const user = find(users, context.value.user, child(context.place, 'user'), refuse)

  const data = (entry: Entry<string>, name: string) => {
    const written = readText(entry.value[name], child(entry.place, name), refuse)
    return written === undefined
      ? undefined
      : (fromBase64(written) ?? refuse(child(entry.place, name), 'is not base64'))
  }
  const places = {
    server: child(cluster.place, 'server'),
    certificateAuthority: child(cluster.place, 'certificate-authority-data'),
    certificate: child(user.place, 'client-certificate-data'),
    key: child(user.place, 'client-key-data'),
    token: child(user.place, 'token'),
  }
  return {
    server: readText(cluster.value.server, places.server, refuse),
    certificateAuthority: data(cluster, 'certificate-authority-data'),
    certificate: data(user, 'client-certificate-data'),
    key: data(user, 'client-key-data'),
    token: readText(user.value.token, places.token, refuse),
    place: (name) => places[name],
  }
}

interface Entry<K extends string> {
  name: unknown
  place: string
  value: Members<K>
}

/** `[{name, KIND: {…}}]`. */
function entries<const K extends string>(
  list: unknown,
  place: string,
  kind: string,
  allowed: readonly K[],
  refuse: Refuse,
): Entry<K>[] {
  return readItems(list, place, refuse).map((item, index) => {
    const at = `${place}[${index}]`
    const entry = readMembers(item, at, ['name', kind], refuse)
    return {
      name: entry.name,
      place: child(at, kind),
      value: readMembers(entry[kind] ?? {}, child(at, kind), allowed, refuse),
    }
  })
}

/** Returns the only entry with this name. Readers of kube configs disagree about duplicates, so those are refused. */
function find<K extends string>(list: readonly Entry<K>[], name: unknown, place: string, refuse: Refuse): Entry<K> {
  const [found, second] = list.filter((entry) => typeof name === 'string' && entry.name === name)
  if (second) refuse(place, 'names two entries')
  return found ?? refuse(place, 'names no entry')
}
