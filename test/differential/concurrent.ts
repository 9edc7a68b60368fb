/**
 * Generates groups of concurrent requests whose order does not matter: the number of each code and the final object must be
 * the same on every server.
 */
import type { Client } from '../conformance/client.ts'
import type { Json, Step } from '../conformance/scenario.ts'
import type { Random } from './random.ts'

export interface Group {
  about: string
  /** Requests that are sent first, one by one. */
  before: readonly Step[]
  requests: readonly Step[]
}

/** The outcome of a group: sorted codes, and the object without members that differ between runs. */
export interface Outcome {
  codes: number[]
  left: Json
}

const apiVersion = 'management.platform/v1'
const kind = 'VirtualClusterInstance'
const plural = 'virtualclusterinstances'

const types = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
}

export function groupOf(random: Random, run: string): Group {
  const collection = `/namespaces/${run}/${plural}`
  const path = `${collection}/a`
  const object = (more: Json = {}): Json => ({
    apiVersion,
    kind,
    metadata: { name: 'a', ...more },
    spec: { displayName: 'a' },
  })
  const create: Step = {
    method: 'POST',
    path: collection,
    body: object({ finalizers: random.pick([[], ['example.com/f']]) }),
  }
  const patch = (type: keyof typeof types, body: Json, query = ''): Step => ({
    method: 'PATCH',
    path: `${path}${query}`,
    headers: { 'content-type': types[type] },
    body: JSON.stringify(body),
  })
  const apply = (index: number, more: Json = { labels: { [`l${index}`]: 'x' } }): Step =>
    patch('apply', { apiVersion, kind, metadata: { name: 'a', ...more } }, `?fieldManager=m${index}`)
  const groups: Record<string, { before: Step[]; request(index: number): Step }> = {
    'creates of one name': { before: [], request: () => create },
    'creates and applies of one name': { before: [], request: (index) => apply(index) },
    'applies of the same by one manager': { before: [], request: () => apply(0) },
    'applies of one field by several': {
      before: [patch('apply', { ...object(), spec: { displayName: 'b' } }, '?fieldManager=first')],
      request: (index) => patch('apply', object(), `?fieldManager=m${index}`),
    },
    'merge patches of a label each': {
      before: [create],
      request: (index) => patch('merge', { metadata: { labels: { [`l${index}`]: 'x' } } }),
    },
    'JSON patches of the spec': {
      before: [create],
      request: (index) => patch('json', [{ op: 'add', path: '/spec/description', value: `d${index}` }]),
    },
    'merge patches with a uid that is wrong': {
      before: [create],
      request: () => patch('merge', { metadata: { uid: 'other' } }),
    },
    deletes: { before: [create], request: () => ({ method: 'DELETE', path }) },
    'deletes of a collection': { before: [create], request: () => ({ method: 'DELETE', path: collection }) },
  }
  const about = random.pick(Object.keys(groups))
  const { before = [], request = () => create } = groups[about] ?? {}
  return { about, before, requests: Array.from({ length: 2 + random.below(12) }, (_, index) => request(index)) }
}

export async function outcomeOf({ before, requests }: Group, client: Client): Promise<Outcome> {
  for (const one of before) await client.send(one)
  const replies = await Promise.all(requests.map((one) => client.send(one)))
  const collection = requests[0]?.path.replace(/\/a?(\?.*)?$/, '').replace(/\?.*$/, '') ?? ''
  const { text } = await client.send({
    method: 'GET',
    path: collection.endsWith(plural) ? `${collection}/a` : collection,
  })
  const { metadata = {}, spec = {}, code } = JSON.parse(text)
  const { labels, generation, finalizers, deletionTimestamp } = metadata
  return {
    codes: replies.map((reply) => reply.code).sort((a, b) => a - b),
    // Any of several descriptions may be the last.
    left: {
      code,
      labels,
      generation,
      finalizers,
      isGoing: deletionTimestamp !== undefined,
      members: Object.keys(spec).sort(),
    },
  }
}
