/**
 * Keeps what a person has typed over the end of a session, for the same person: in memory, and in the session storage of the tab only
 * while the person is at the identity provider. A text that looks like a secret is never kept.
 */
import type { Self } from '../../../core/src/objects.ts'
import { hasSecret } from '../text/secrets.ts'
import { type BrowserStorage, readObject } from './browserstorage.ts'

const NAME = 'keyplane-drafts'

/** What one person typed, by the names of the forms. */
export type Drafts = Map<string, unknown>

let owner = ''
let drafts: Drafts = new Map()

/** Returns whose drafts they are: those of a user with any key. A team has many members, so theirs are those of one key. */
const ownerOf = ({ team, subject, accessKey, uid }: Self): string =>
  team || !subject ? `${accessKey} ${uid}` : subject

/** Returns the drafts of whoever is signed in. Those of anybody else are forgotten. */
export function draftsOf(self: Self): Drafts {
  if (owner !== ownerOf(self)) {
    owner = ownerOf(self)
    drafts = new Map()
  }
  return drafts
}

/** Keeps a draft, or forgets it because it has a secret now. */
export function keepDraft(all: Drafts, name: string, draft: unknown): void {
  if (hasSecret(JSON.stringify(draft))) all.delete(name)
  else all.set(name, draft)
}

/** Returns the draft with the name. One of another form, such as that of another release of the console, is none. */
export function keptDraft<T>(all: Drafts, name: string, first: T): T | undefined {
  const draft = all.get(name)
  return isLike(draft, first) ? (draft as T) : undefined
}

/** Reports whether the values have the same type, and the members of objects too. */
function isLike(value: unknown, model: unknown): boolean {
  const kindOf = (one: unknown) => (Array.isArray(one) ? 'array' : one === null ? 'null' : typeof one)
  if (kindOf(value) !== kindOf(model) || kindOf(model) !== 'object') return kindOf(value) === kindOf(model)
  const members = new Map(Object.entries(value as object))
  return Object.entries(model as object).every(([name, one]) => kindOf(members.get(name)) === kindOf(one))
}

/** Forgets the drafts, because the person signs out. */
export function forgetDrafts(): void {
  owner = ''
  drafts = new Map()
}

/** Stores the drafts before the page leaves for the identity provider. */
export function storeDrafts(storage: BrowserStorage): void {
  if (drafts.size > 0) storage.setItem(NAME, JSON.stringify({ owner, forms: [...drafts] }))
}

/** Takes the stored drafts, when the page comes back. */
export function takeDrafts(storage: BrowserStorage): void {
  const stored = (readObject(storage, NAME) ?? {}) as { owner?: string; forms?: [string, unknown][] }
  storage.removeItem(NAME)
  // Other programs of the same host may write there too.
  if (stored.owner === undefined || !Array.isArray(stored.forms)) return
  owner = stored.owner
  drafts = new Map(stored.forms.filter(Array.isArray))
}
