/** Says who manages the fields that a write changes. */
import { wholeObject } from '../meta/structuredmerge/typed.ts'
import type { KindInfo, Subresource } from './kind.ts'

/** Returns the arguments of the field manager that are the same for every write of objects of a kind. */
export const managerArguments = (
  { group, version, kind, schema }: KindInfo,
  manager: string,
  now: Date,
  subresource: Subresource = '',
) => ({ manager, subresource, now, gvk: { group, version, kind }, schema: wholeObject(schema) })
