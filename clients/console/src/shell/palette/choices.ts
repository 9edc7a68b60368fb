/** Finds where the palette leads for what a person types: keys by the beginning of their name, pages and actions. */
import type { AccessKey } from '../../../../core/src/objects.ts'
import { isLikeValue } from '../../text/keyvalue.ts'
import { nameProblem } from '../../text/names.ts'
import { hrefOf } from '../../text/routes.ts'

export interface Choice {
  /** Identifies it among the others. */
  id: string
  title: string
  kind: 'Key' | 'Page' | 'Action'
  /** The address to which it leads. Without one it signs out. */
  href?: string
}

/** So many keys are shown. */
const MOST_KEYS = 8

const SIGN_OUT: Choice = { id: 'sign-out', title: 'Sign out', kind: 'Action' }

const ACTIONS: readonly Choice[] = [
  { id: 'new-key', title: 'New key', kind: 'Action', href: hrefOf('new-key') },
  { id: 'new-trust', title: 'New trust', kind: 'Action', href: hrefOf('new-trust') },
  { id: 'whose', title: 'Whose key is this?', kind: 'Action', href: hrefOf('whose') },
  SIGN_OUT,
]

/** Returns the choices, the likeliest first. `pages` are those with a link in the header. */
export function choicesFor(
  text: string,
  pages: readonly { page: string; title: string }[],
  keys: readonly AccessKey[],
): Choice[] {
  const name = text.trim().toLowerCase()
  const places: Choice[] = [
    ...pages.map(({ page, title }): Choice => ({ id: `page ${page}`, title, kind: 'Page', href: hrefOf(page) })),
    ...ACTIONS,
  ].filter(({ title }) => isBegun(title, name))
  if (name === '') return places
  const names = keys.map(({ metadata }) => metadata.name)
  const found = names.filter((one) => one.startsWith(name)).sort((a, b) => (a < b ? -1 : 1))
  const isUnread = !names.includes(name) && nameProblem(name) === undefined && !isLikeValue(name)
  return [
    ...found.slice(0, MOST_KEYS).map((one) => keyChoice(one, one)),
    ...places,
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
