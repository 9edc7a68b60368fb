/**
 * Keeps values that the server returns only once. A value belongs to the person of the session that made it: it is shown to them until they
 * have stored it, also in a later session of theirs in this tab, and to nobody else.
 */
import type { Self } from '../../../core/src/objects.ts'

export interface Revealed {
  /** Such as `The key of ci-abc12`. */
  title: string
  /** Name of the object, for file names and commands. */
  name: string
  value: string
  /** What to do with it, in one or two sentences. */
  explanation: string
  /** Address of the page to open afterwards. */
  next?: string
}

/** The values of a tab, the oldest first, and the person of its session. */
export interface Values {
  /** Absent between sessions. */
  person?: string
  waiting: readonly (Revealed & { of: string })[]
  /** The titles of values that came after the session that had asked for them. They are not kept. */
  missed: readonly { of: string; title: string }[]
}

export const noValues: Values = { waiting: [], missed: [] }

/** Returns who the session belongs to. Two keys of one person are of one person. */
export const personOf = ({ subject, accessKey }: Pick<Self, 'subject' | 'accessKey'>): string =>
  subject ?? `key ${accessKey}`

/** Adds a value that a session of `of` has asked for. After the end of that session, only its title is kept. */
export const withValue = (values: Values, of: string, revealed: Revealed): Values =>
  values.person === of
    ? { ...values, waiting: [...values.waiting, { ...revealed, of }] }
    : { ...values, missed: [...values.missed, { of, title: revealed.title }] }

/** Begins or ends a session. Values of another person go when the next one signs in, and what a person was told when they leave. */
export const withPerson = ({ person: before, waiting, missed }: Values, person: string | undefined): Values => ({
  ...(person !== undefined && { person }),
  waiting: waiting.filter(({ of }) => person === undefined || of === person),
  missed: missed.filter(({ of }) => of !== before),
})

/** Returns the value to show now. Each is shown by itself. */
export const shownValue = ({ person, waiting }: Values): Revealed | undefined =>
  person === undefined ? undefined : waiting[0]

/** Removes the value that is shown: the person has stored it. */
export const withoutShown = (values: Values): Values => ({ ...values, waiting: values.waiting.slice(1) })

/** Returns what to say to the person of the session about values that came too late for an earlier one of theirs. */
export function missedWords({ person, missed }: Values): string | undefined {
  const titles = missed.filter(({ of }) => of === person).map(({ title }) => title)
  return titles.length === 0 ? undefined : `${titles.join('; ')}: made after you signed out, and shown to nobody.`
}
