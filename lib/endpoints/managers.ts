/** Who is booked as the manager of the fields that a request writes. */
import { defaultFieldManager } from '../meta/fieldmanagername.ts'
import type { ObjectSchema } from '../meta/schema.ts'
import { wholeObject } from '../meta/typed.ts'
import type { GroupVersionKind } from '../meta/types.ts'
import type { KindInfo } from '../registry/kind.ts'
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
