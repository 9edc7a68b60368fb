/** Who is booked as the manager of the fields that a request writes. */
import { defaultFieldManager } from '../meta/object/managername.ts'
import type { ObjectSchema } from '../meta/schema/schema.ts'
import { wholeObject } from '../meta/structuredmerge/typed.ts'
import type { GroupVersionKind, KubeObject } from '../meta/types.ts'
import type { KindInfo } from '../registry/kind.ts'
import { StorageError } from '../storage/errors.ts'
import { type Exchange, set } from './exchange.ts'

/** What every write tells the field manager: fieldManager parameter, else the name in the User-Agent. */
export function writer(
  exchange: Exchange,
  kind: KindInfo,
  subresource: '' | 'status',
): { manager: string; subresource: '' | 'status'; now: Date; gvk: GroupVersionKind; schema: ObjectSchema } {
  const { fieldManager } = set(exchange.writeOptions, 'writeOptions')
  return {
    manager: fieldManager || defaultFieldManager(exchange.request.headers['user-agent'] ?? ''),
    subresource,
    now: exchange.context.now,
    gvk: { group: kind.group, version: kind.version, kind: kind.kind },
    schema: wholeObject(kind.schema),
  }
}

/** What becomes of the managers of an object that is about to be stored. */
export type Managing = (object: KubeObject) => KubeObject

export const asItIs: Managing = (object) => object

function unmanaged({ metadata: { managedFields: _, ...metadata }, ...rest }: KubeObject): KubeObject {
  return { ...rest, metadata }
}

/**
 * Writes, and again without managedFields where the object is too large with them: they can be as large as all else, and are
 * made anew by later writes. Source: isTooLargeError in k8s.io/apiserver endpoints/handlers (create, update, patch).
 */
export async function writeManaged<T>(write: (managing: Managing) => Promise<T>): Promise<T> {
  try {
    return await write(asItIs)
  } catch (error) {
    if (!(error instanceof StorageError && error.code === 'TooLarge')) throw error
    return write(unmanaged)
  }
}
