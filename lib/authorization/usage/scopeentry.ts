/** Builds the scope entry for what a key did. The authorizer, which records it, does not load this. */
import { exactEntry } from '../scopes/exactentry.ts'
import type { ScopeOptions } from '../scopes/project.ts'
import type { Scope } from '../scopes/scope.ts'
import { type UsedEntry, withoutAnyName } from './usedentry.ts'

/** Returns the scope entry that allows the entry and nothing else, or undefined when no rule is that narrow. */
export const scopeEntryOf = ({ attributes }: UsedEntry, options: ScopeOptions): Scope | undefined =>
  exactEntry(withoutAnyName(attributes), options)
