/**
 * Records whole numbers that a JSON text writes as floating point (`5.0`, `1e6`). Their values equal integers, but Go
 * distinguishes them, and so do kube-apiserver's responses.
 * Source: sigs.k8s.io/json (preserving integers).
 */
import type { JsonValue } from '../types.ts'
import { child, isObject } from '../value/walk.ts'

/** Literals by path (`spec.access[0].ttl`). */
export type Floats = ReadonlyMap<string, string>

export const NO_FLOATS: Floats = new Map()

/** Limits the recorded numbers of one text; further ones count as integers. */
export const MAX_FLOATS = 1000

/** Returns the literal if it writes a whole number as floating point, otherwise undefined. */
export const floatLiteral = (literal: string): string | undefined =>
  /[.eE]/.test(literal) && Number.isInteger(Number(literal)) ? literal : undefined

/** Reports whether the value at `path` contains one of the numbers. */
export function holdsFloat(value: JsonValue | undefined, path: string, floats: Floats): boolean {
  if (floats.size === 0) return false
  if (typeof value === 'number' || typeof value === 'bigint') return floats.has(path)
  if (Array.isArray(value)) return value.some((item, index) => holdsFloat(item, `${path}[${index}]`, floats))
  return isObject(value) && Object.entries(value).some(([name, one]) => holdsFloat(one, child(path, name), floats))
}
