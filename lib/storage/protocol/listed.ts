/** Objects of a page: what lies in the table stays as it is until somebody looks. */

import type { Listed, Stored } from '../interface.ts'
import { keptBytes } from './constants.ts'
import { type State, stored } from './records.ts'

/** What a state weighs in a page: its bytes as they lie in the table, near enough. */
export const weight = ({ object, internal }: State): number => object.length + internal.length

/** What is deflated is large, however little it weighs. */
const isSmall = (state: State): boolean => typeof state.object === 'string' && weight(state) <= keptBytes

/** An object of a page. `seen` is what it says where somebody has looked already: kept only where it is small. */
export function listed(state: State, seen?: Stored): Listed {
  const { key, rv } = state
  const kept = seen && isSmall(state) ? seen : undefined
  return { key, rv, read: () => kept ?? stored(state) }
}
