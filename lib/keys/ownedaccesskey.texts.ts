/**
 * Lists the free texts of an access key, which grant nothing and decide nothing. Its schema and columns follow from the list, and so do
 * the options of the command line and the forms of the console, which have no code for a single one.
 */

interface Text {
  /** The field in spec. */
  name: string
  /** The name of the text for people. */
  title: string
  /** What the OpenAPI documents say. */
  description: string
  /** What the column says, if it says something else. */
  column?: string
  /** The option of `keyplane keys create`, and what its help says. */
  option: string
  help: string
  /** What the form of a new key says. */
  hint: string
  /** Whether the text may have several lines. */
  isLong?: true
}

const name = {
  name: 'displayName',
  title: 'Display name',
  description: 'Name shown in the UI.',
  option: 'display-name',
  help: 'name for people',
  hint: 'For people, such as CI of the shop.',
} as const satisfies Text

const others = [
  {
    name: 'description',
    title: 'Description',
    description: 'Free-text description.',
    column: 'Purpose of the key.',
    option: 'description',
    help: 'what the key is for',
    hint: 'What it is for, and who to ask.',
    isLong: true,
  },
] as const satisfies readonly Text[]

type AnyText = typeof name | (typeof others)[number]

/** The field of a text in spec. */
export type KeyTextName = AnyText['name']

export interface KeyText extends Text {
  name: KeyTextName
  option: AnyText['option']
}

/** The display name, which is shown beside the name of the key. */
export const displayName: KeyText = name

export const otherTexts: readonly KeyText[] = others

/** All texts in the order in which they are shown. */
export const keyTexts: readonly KeyText[] = [name, ...others]

/** Returns what `make` returns for each text, by the field of the text. */
export const eachKeyText = <V>(make: (text: KeyText) => V): Record<KeyTextName, V> =>
  Object.fromEntries(keyTexts.map((text) => [text.name, make(text)])) as Record<KeyTextName, V>

/** By which clients recognize the first key of a deployment, which bootstrap makes. */
export const FIRST_KEY = { user: 'admin', description: 'Created by bootstrap.' } as const

/** The annotation in which a revocation says why a key or a trust is disabled. */
export const DISABLED_REASON = 'management.platform/disabled-reason'
