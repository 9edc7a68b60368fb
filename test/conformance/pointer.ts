/** Implements JSON pointers (RFC 6901) with two additions: `*` = every element, and `k=v` = the array element whose k is v. */
import type { Json } from './scenario.ts'

const segments = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))

export const escapeSegment = (segment: string): string => segment.replaceAll('~', '~0').replaceAll('/', '~1')

function child(value: Json, segment: string): Json {
  if (!Array.isArray(value) || !segment.includes('=')) return value?.[segment]
  const at = segment.indexOf('=')
  return value.find((one) => String(one?.[segment.slice(0, at)]) === segment.slice(at + 1))
}

/** Returns the value at a pointer, or undefined. */
export const read = (value: Json, pointer: string): Json => segments(pointer).reduce(child, value)

/** Returns a copy without the values at the pointers. */
export function removeAll(value: Json, pointers: readonly string[]): Json {
  const copy = structuredClone(value)
  for (const pointer of pointers) remove(copy, segments(pointer))
  return copy
}

function remove(value: Json, [segment = '', ...rest]: string[]): void {
  if (value === null || typeof value !== 'object') return
  if (segment === '*') for (const one of Object.values(value)) remove(one, rest)
  else if (rest.length > 0) remove(value[segment], rest)
  else delete value[segment]
}

/** Reports whether the pointer matches a path of plain segments. */
export function matchesPath(pointer: string, path: string): boolean {
  const [wanted, actual] = [segments(pointer), segments(path)]
  return wanted.length === actual.length && wanted.every((segment, i) => segment === '*' || segment === actual[i])
}
