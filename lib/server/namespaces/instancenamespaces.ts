/**
 * Finds the namespaces of the virtual cluster instances that a user may list. Costs what a list of the instances costs. The
 * scope of the request must allow the list in each namespace.
 */

import { managementRequest } from '../../access/attributes/attributes.ts'
import { evaluate } from '../../access/scopes/evaluate.ts'
import { VirtualClusterInstance } from '../../clusters/virtualclusterinstance.ts'
import type { StoredCall } from '../../engine/endpoints/call.ts'
import { type ListStart, openCollection } from '../../engine/endpoints/lists/page.ts'
import { selecting } from '../../engine/endpoints/lists/selection.ts'
import type { RequestContext } from '../../engine/registry/kind.ts'
import { KINDS } from '../../kinds.ts'
import type { Server } from '../server.ts'

/** The instances of a request that asks for namespaces. */
export interface Source {
  call: StoredCall
  context: RequestContext
  /** Reports whether the scopes allow a list of the instances in a namespace. */
  mayList(namespace: string): boolean
}

/** The names of the instances in each namespace that has one. */
export type InstancesByNamespace = Map<string, Set<string>>

export function sourceOf(call: Omit<StoredCall, 'kind' | 'store'>, { scopes, storeOf }: Server, verb: string): Source {
  const store = storeOf(VirtualClusterInstance)
  const { chain } = call.context.user
  const decided = new Map<string, boolean>()
  return {
    call: { ...call, kind: store.kind, store },
    context: { ...call.context, dryRun: false },
    mayList(namespace) {
      const asked = managementRequest(KINDS.VirtualClusterInstance, { verb, namespace })
      const isAllowed = decided.get(namespace) ?? evaluate(chain, asked, scopes).allowed
      decided.set(namespace, isAllowed)
      return isAllowed
    },
  }
}

export function addInstance(byNamespace: InstancesByNamespace, namespace: string, name: string): void {
  const names = byNamespace.get(namespace) ?? new Set()
  byNamespace.set(namespace, names.add(name))
}

export function removeInstance(byNamespace: InstancesByNamespace, namespace: string, name: string): void {
  const names = byNamespace.get(namespace)
  names?.delete(name)
  if (names?.size === 0) byNamespace.delete(namespace)
}

/** How a collection is read, and for which verb. */
interface Reading {
  verb: 'list' | 'watch'
  start: ListStart
  /** The only name that can match. Then nothing but the revision is read. */
  name: string | undefined
}

/** Reads the namespaces that hold objects, and the revision at which they do. Throws TooNew and Expired. */
export async function readNamespaces(
  { call, context, mayList }: Source,
  { verb, start, name }: Reading,
): Promise<{ byNamespace: InstancesByNamespace; rv: number }> {
  const byNamespace: InstancesByNamespace = new Map()
  const selection = selecting([], { name, namespace: name })
  const { rv, pages } = await openCollection(call, context, { verb, selection, start, limit: 0, pageSize: 500 })
  if (name !== undefined) return { byNamespace, rv }
  for await (const { items } of pages) {
    for (const { key } of items) {
      const [namespace = '', instance = ''] = key.split('/')
      if (mayList(namespace)) addInstance(byNamespace, namespace, instance)
    }
  }
  return { byNamespace, rv }
}
