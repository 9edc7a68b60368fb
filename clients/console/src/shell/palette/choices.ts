/** Finds where the palette leads for what a person types: keys, pages and actions. */
import { matcher, type Searched } from '../../keylist/filter.ts'
import { isLikeValue } from '../../text/keyvalue.ts'
import { nameProblem } from '../../text/names.ts'
import { hrefOf } from '../../text/routes.ts'

export interface Choice {
  /** Identifies it among the others. */
  id: string
  title: string
  kind: 'Key' | 'Page' | 'Action'
  /** The address to which it leads, or what it does. Without either it signs out. */
  href?: string
  act?(): void
}

export type Pages = readonly { page: string; title: string }[]

/** So many keys are shown. */
const MOST_KEYS = 8

const SIGN_OUT: Choice = { id: 'sign-out', title: 'Sign out', kind: 'Action' }

const ACTIONS: readonly Choice[] = [
  { id: 'new-key', title: 'New key', kind: 'Action', href: hrefOf('new-key') },
  { id: 'new-trust', title: 'New trust', kind: 'Action', href: hrefOf('new-trust') },
  { id: 'leak', title: 'Report a leak', kind: 'Action', href: hrefOf('whose') },
  { id: 'whose', title: 'Whose key is this?', kind: 'Action', href: hrefOf('whose') },
  SIGN_OUT,
]

/** From so many characters on, keys are found by more than the beginning of their names. */
const SEARCHED = 2

/**
 * Returns the choices, the likeliest first. `own` are the actions of the page that is shown, `pages` those with a link in the header, and
 * `more` says that there are keys that were not read.
 */
export function choicesFor(
  text: string,
  { own = [], pages, keys, more }: { own?: readonly Choice[]; pages: Pages; keys: readonly Searched[]; more: boolean },
): Choice[] {
  const name = text.trim().toLowerCase()
  const places: Choice[] = [
    ...own,
    ...pages.map(({ page, title }): Choice => ({ id: `page ${page}`, title, kind: 'Page', href: hrefOf(page) })),
    ...ACTIONS,
  ].filter(({ title }) => isBegun(title, name))
  if (name === '') return places
  const names = (found: readonly Searched[]) => found.map(({ key }) => key.metadata.name).sort()
  const begun = names(keys.filter(({ key }) => key.metadata.name.startsWith(name))).slice(0, MOST_KEYS)
  const matching = name.length < SEARCHED ? [] : names(keys.filter(matcher(text)))
  const others = matching.filter((one) => !begun.includes(one)).slice(0, MOST_KEYS - begun.length)
  const isUnread = more && !begun.includes(name) && nameProblem(name) === undefined && !isLikeValue(name)
  return [
    ...begun.map((one) => keyChoice(one, one)),
    ...places,
    ...others.map((one) => keyChoice(one, one)),
    ...(isUnread ? [keyChoice(name, `Open key ${name}`)] : []),
  ]
}

const keyChoice = (name: string, title: string): Choice => ({
  id: `key ${name}`,
  title,
  kind: 'Key',
  href: hrefOf('keys', [name]),
})

/** Reports whether each word begins a word of the title. */
const isBegun = (title: string, text: string): boolean =>
  text.split(/\s+/).every((word) =>
    title
      .toLowerCase()
      .split(' ')
      .some((one) => one.startsWith(word)),
  )
