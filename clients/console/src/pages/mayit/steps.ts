/** Says in words what each step of an access review means, and which entry of the scope decides. */
import type { AccessKey, ReviewStep, Scope } from '../../../../core/src/objects.ts'

export interface StepWords {
  title: string
  /** What the step asks. */
  asks: string
}

const WORDS: Readonly<Record<string, StepWords>> = {
  life: { title: 'The key', asks: 'Does the key give access: is it enabled, not expired and not deleted?' },
  source: { title: 'Address', asks: 'May the key be used from this address?' },
  scope: { title: 'Scope', asks: 'Does every scope of the key allow the request?' },
  rights: { title: 'Rights', asks: 'May the owner of the key do this, by groups, ownership and access rules?' },
}

export const wordsOf = ({ check }: ReviewStep): StepWords => WORDS[check] ?? { title: check, asks: '' }

/** Returns the state of a step: passed, refused or not judged. */
export function verdictOf({ allowed }: ReviewStep): { tone: 'good' | 'bad' | 'plain'; text: string } {
  if (allowed === undefined) return { tone: 'plain', text: 'Not judged' }
  return allowed ? { tone: 'good', text: 'Passes' } : { tone: 'bad', text: 'Refuses' }
}

/**
 * Returns the entry of the key's own scope that allows the request, alone in a scope. The reason of the step names it, such as
 * `spec.scope.projects[0]`, after those of inherited scopes.
 */
export function allowingEntry({ check, allowed, reason = '' }: ReviewStep, { spec }: AccessKey): Scope | undefined {
  const own = reason.split(', ').at(-1) ?? ''
  const found = check === 'scope' && allowed ? /^(?:chain\[\d+\]\.)?spec\.scope\.(\w+)(?:\[(\d+)\])?$/.exec(own) : null
  const [, list = '', index] = found ?? []
  const value = Object.hasOwn(spec.scope ?? {}, list) ? spec.scope?.[list as keyof Scope] : undefined
  if (value === undefined) return undefined
  return { [list]: Array.isArray(value) && index !== undefined ? [value[Number(index)]] : value }
}

/** Reports whether the scope that refuses is inherited: nobody can change it. */
export const isInherited = ({ reason = '' }: ReviewStep): boolean => /nobody can change it$/.test(reason)

/** Returns a scope with the entries of another one behind its own. */
export function joined(scope: Scope, added: Scope): Scope {
  const lists = new Map<string, unknown>(Object.entries(scope))
  for (const [list, entries] of Object.entries(added)) {
    const own = lists.get(list)
    lists.set(list, Array.isArray(own) && Array.isArray(entries) ? [...own, ...entries] : entries)
  }
  return Object.fromEntries(lists)
}
