/** Compares two answers. */
import { escapeSegment, matchesPath } from './pointer.ts'
import type { Answer, Json, Step } from './scenario.ts'

export interface Difference {
  /** JSON pointer into the recorded answer (`/body/metadata/name`). */
  pointer: string
  want: Json
  got: Json
}

const isContainer = (value: Json): boolean => value !== null && typeof value === 'object'

/** `additions` are pointers to members that only `got` may have, even when the object has no others. */
function compare(want: Json, got: Json, at: string, additions: readonly string[]): Difference[] {
  // A missing picked value was recorded as null.
  if ((want ?? undefined) === undefined && isAddition(got, at, additions)) return []
  if (isContainer(want) && isContainer(got) && Array.isArray(want) === Array.isArray(got)) {
    const members = new Set([...Object.keys(want), ...Object.keys(got)])
    return [...members].flatMap((member) =>
      compare(want[member], got[member], `${at}/${escapeSegment(member)}`, additions),
    )
  }
  return JSON.stringify(want) === JSON.stringify(got) ? [] : [{ pointer: at, want, got }]
}

function isAddition(value: Json, at: string, additions: readonly string[]): boolean {
  if (additions.some((pointer) => matchesPath(pointer, at))) return true
  if (!isContainer(value) || Array.isArray(value)) return false
  const members = Object.entries(value)
  return (
    members.length > 0 && members.every(([name, one]) => isAddition(one, `${at}/${escapeSegment(name)}`, additions))
  )
}

/** The places of objects in answers: alone, in lists, in rows of tables, in events. */
const places = ['/body', '/body/items/*', '/body/rows/*/object', '/events/*/object', '/events/*/object/rows/*/object']

/** Returns the pointers into an answer for a pointer into an object. A body of picked pointers has them as members. */
const allPlaces = (pointer: string, picked: readonly string[] = []): string[] => [
  ...places.map((place) => `${place}${pointer}`),
  ...picked
    .filter((one) => pointer.startsWith(`${one}/`))
    .map((one) => `/body/${escapeSegment(one)}${pointer.slice(one.length)}`),
]

/** Returns the differences of an answer. `additions` are pointers into objects to members that the server may add. */
export function differences(step: Step, got: Answer, additions: readonly string[]): Difference[] {
  const { want } = step
  if (!want) return []
  if (step.anyText && want.text !== undefined) return compare(want.code, got.code, '/code', [])
  // Where kube-apiserver only says that nothing is found, this API adds a Warning with the alternatives.
  const isNothing = want.code === 404 && want.text !== undefined
  const additional = ['retry-after', ...(isNothing ? ['warning'] : [])].filter((name) => !want.headers?.[name])
  const ignored = new Set([...(step.ignoreHeaders ?? []), ...additional])
  const withoutIgnored = ({ headers, ...answer }: Answer): Answer => ({
    ...answer,
    headers: Object.fromEntries(Object.entries(headers ?? {}).filter(([name]) => !ignored.has(name))),
  })
  const allowed = additions.flatMap((pointer) => allPlaces(pointer, step.only))
  return compare(withoutIgnored(want), withoutIgnored(got), '', allowed)
}
