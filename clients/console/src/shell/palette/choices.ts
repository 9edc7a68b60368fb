/** Finds where the palette leads for what a person types: objects, pages and actions. */
import type { AccessKey } from '../../../../core/src/objects.ts'
import type { KnownClusters } from '../../../../core/src/words/places.ts'
import type { Trust } from '../../api/trusts.ts'
import { matcher } from '../../keylist/filter.ts'
import { ownerInWords } from '../../text/access.ts'
import { hrefOf } from '../../text/routes.ts'

export interface Choice {
  /** Identifies it among the others. */
  id: string
  title: string
  kind: 'Key' | 'Trust' | 'Cluster' | 'Page' | 'Action'
  /** The address to which it leads, or what it does. Without either it signs out. */
  href?: string
  act?(): void
}

export type Pages = readonly { page: string; title: string }[]

/** So many objects are shown. */
const MOST_OBJECTS = 8

const SIGN_OUT: Choice = { id: 'sign-out', title: 'Sign out', kind: 'Action' }

const ACTIONS: readonly Choice[] = [
  { id: 'new-key', title: 'New key', kind: 'Action', href: hrefOf('new-key') },
  { id: 'new-trust', title: 'New trust', kind: 'Action', href: hrefOf('new-trust') },
  { id: 'leak', title: 'Report a leak', kind: 'Action', href: hrefOf('whose') },
  { id: 'whose', title: 'Whose key is this?', kind: 'Action', href: hrefOf('whose') },
  SIGN_OUT,
]

/** From so many characters on, objects are found by more than the beginning of their names. */
const SEARCHED = 2

/** A choice that is an object, and what is searched of it. */
export interface Found {
  choice: Choice
  searched: string
}

export interface Known {
  /** The actions of the page that is shown. */
  own?: readonly Choice[]
  /** Those with a link in the header. */
  pages: Pages
  keys: readonly AccessKey[]
  /** Trusts and clusters. */
  others?: readonly Found[]
}

/** Returns the choices, the likeliest first. */
export function choicesFor(text: string, { own = [], pages, keys, others = [] }: Known): Choice[] {
  const name = text.trim().toLowerCase()
  const named = (choices: readonly Choice[]) => choices.filter(({ title }) => isBegun(title, name))
  const places = named([
    ...pages.map(({ page, title }): Choice => ({ id: `page ${page}`, title, kind: 'Page', href: hrefOf(page) })),
    ...ACTIONS,
  ])
  if (name === '') return [...named(own), ...places]
  const isKey = matcher(text, { now: new Date() })
  const words = name.split(/\s+/)
  const matching = [
    ...keys
      .filter((one) => one.metadata.name.startsWith(name) || (name.length >= SEARCHED && isKey(one)))
      .map(({ metadata }) => choiceOf('Key', metadata.name, hrefOf('keys', [metadata.name]))),
    ...others
      .filter(({ choice, searched }) =>
        name.length < SEARCHED ? choice.title.startsWith(name) : words.every((word) => searched.includes(word)),
      )
      .map(({ choice }) => choice),
  ].toSorted((one, other) => one.title.localeCompare(other.title))
  const first = matching.filter(({ title }) => title.startsWith(name)).slice(0, MOST_OBJECTS)
  const rest = matching.filter(({ title }) => !title.startsWith(name)).slice(0, MOST_OBJECTS - first.length)
  return [...named(own), ...first, ...places, ...rest]
}

const choiceOf = (kind: Choice['kind'], title: string, href: string) => ({ id: `${kind} ${title}`, title, kind, href })

/** Returns the choices of trusts and clusters. */
export const othersOf = (
  trusts: readonly Trust[],
  { virtualClusters, connected }: KnownClusters,
  prefix: string,
): Found[] => [
  ...trusts.map(({ metadata: { name }, spec, status }) =>
    found('Trust', name, hrefOf('trusts', ['credentials', name]), spec.displayName, ownerInWords(status?.owner)),
  ),
  ...connected.map((name) => found('Cluster', name, hrefOf('clusters', [name]))),
  ...[...virtualClusters].flatMap(([project, names]) =>
    names.map((name) => found('Cluster', `${project}/${name}`, hrefOf('virtual-clusters', [prefix + project, name]))),
  ),
]

const found = (kind: Choice['kind'], title: string, href: string, ...searched: (string | undefined)[]): Found => ({
  choice: choiceOf(kind, title, href),
  searched: [title, ...searched].join('\n').toLowerCase(),
})

/** Reports whether each word begins a word of the title. */
function isBegun(title: string, text: string): boolean {
  const words = title.toLowerCase().split(' ')
  return text.split(/\s+/).every((begun) => words.some((one) => one.startsWith(begun)))
}
