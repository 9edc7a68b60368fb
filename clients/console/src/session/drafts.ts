/**
 * Keeps what a person has typed over the end of a session, for the same person: in memory, and in the session storage of the tab only
 * while the person is at the identity provider. Forms have no secrets; a text that looks like one is never stored.
 */
import { hasSecret } from '../text/secrets.ts'
import { readObject, type TabStorage } from './tabstorage.ts'

const NAME = 'keyplane-drafts'

/** The drafts of one person, by the names of their forms. */
export interface Drafts {
  owner: string
  forms: Map<string, unknown>
}

let drafts: Drafts = { owner: '', forms: new Map() }

/** Returns the drafts of the person. Those of anybody else are forgotten. */
export function draftsOf(owner: string): Drafts['forms'] {
  if (drafts.owner !== owner) drafts = { owner, forms: new Map() }
  return drafts.forms
}

/** Forgets the drafts, because the person signs out. */
export function forgetDrafts(): void {
  drafts = { owner: '', forms: new Map() }
}

/** Stores the drafts before the page leaves for the identity provider. */
export function storeDrafts(storage: TabStorage): void {
  const { owner, forms } = drafts
  const text = JSON.stringify({ owner, forms: [...forms].filter(([, draft]) => !hasSecret(JSON.stringify(draft))) })
  if (forms.size > 0) storage.setItem(NAME, text)
}

/** Takes the stored drafts, when the page comes back. */
export function takeDrafts(storage: TabStorage): void {
  const { owner, forms } = (readObject(storage, NAME) ?? {}) as { owner?: string; forms?: [string, unknown][] }
  storage.removeItem(NAME)
  // Other programs of the same host may write there too.
  if (owner !== undefined && Array.isArray(forms)) drafts = { owner, forms: new Map(forms.filter(Array.isArray)) }
}
