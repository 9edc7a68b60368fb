/** Writes what keys did as short texts, such as `get vci/kubeconfig p-a/x`, `cluster c: get pods s/*`, `vc p-a/x: get /metrics`. */

import type { Usage } from '../../../../lib/access/advice/usage.ts'
import { ANY_NAME, type UsedEntry, type UsedPlace, withUid } from '../../../../lib/access/advice/usedentry.ts'
import type { Attributes } from '../../../../lib/access/attributes/attributes.ts'
import { targetOf } from '../../../../lib/access/scopes/place.ts'
import { OPTIONS } from './arbitraryusage.ts'

const GROUPS: Record<string, string> = {
  ...Object.fromEntries(['pods', 'secrets', 'nodes', 'namespaces'].map((name) => [name, ''])),
  subjectaccessreviews: 'authorization.k8s.io',
}

/** Returns the place `cluster c` or `vc p-a/x`. */
export function placeOf(text: string): UsedPlace {
  const [type, rest = ''] = text.split(' ')
  const [namespace = '', name = ''] = rest.split('/')
  return type === 'cluster' ? { type: 'cluster', name: rest } : { type: 'virtualCluster', namespace, name }
}

/** `NAMESPACE/NAME`: `*` as the name is any name, and as the namespace all of them. Without a slash it is the name. */
export function entryOf(text: string): UsedEntry {
  const [, at, verb = '', what = '', where = ''] = /^(?:([^:]+): )?(\S+) (\S+) ?(\S*)$/.exec(text) ?? []
  const place = at === undefined ? undefined : placeOf(at)
  const target = place ? targetOf(withUid(place), OPTIONS) : ({ type: 'Management' } as const)
  if (what.startsWith('/'))
    return { attributes: { kind: 'nonresource', target, verb, path: what }, ...(place && { place }) }
  const [resource = '', subresource = ''] = what.replace(/^vci\b/, 'virtualclusterinstances').split('/')
  const [namespace = '', name = ''] = where.includes('/') ? where.split('/') : ['', where]
  const attributes: Attributes = {
    kind: 'resource',
    target,
    verb,
    group: GROUPS[resource] ?? 'management.platform',
    resource,
    subresource,
    namespace: namespace === '*' ? '' : namespace,
    name: name === '*' ? ANY_NAME : name,
    ...(namespace === '*' && { allNamespaces: true as const }),
  }
  return { attributes, ...(place && { place }) }
}

/** A month of usage. `silent` are the places that never ask. */
export function usageOf(entries: readonly string[], more: Partial<Usage> & { silent?: string[] } = {}): Usage {
  const { silent = [], ...others } = more
  const never = silent.map((text) => JSON.stringify(placeOf(text)))
  return {
    entries: entries.map((text, index) => ({ entry: entryOf(text), day: `2026-11-${10 + index}` })),
    accepted: [],
    isIncomplete: false,
    asked: (place) => (never.includes(JSON.stringify(place)) ? undefined : '2026-11-20'),
    days: 30,
    ...others,
  }
}
