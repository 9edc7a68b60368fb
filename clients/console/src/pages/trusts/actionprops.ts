/** Declares what the pages of trusts and the dialogs of their actions, which are loaded later, both know. */
import type { Provider, Trust } from '../../api/trusts.ts'

export interface ActionsProps {
  object: Trust | Provider
  /** The path of the object. */
  path: string
  /** What it is, such as `trust`. */
  noun: string
  /** What deleting it means, beyond its keys. */
  loss: string
  /** The names of the data that shows it, in the cache of the session. */
  shownIn: readonly string[]
  refresh(): unknown
}

export type ActionName = 'delete' | 'disable'
