/**
 * Whole numbers that a JSON text writes as floating point (`5.0`, `1e6`). Their values are those of integers, but Go keeps
 * the two apart, and what kube-apiserver answers shows which one was sent.
 * Source: sigs.k8s.io/json (preserving integers).
 */
import type { JsonValue } from '../types.ts'
import { child, isObject } from '../value/walk.ts'

/** The literals by their paths (`spec.access[0].ttl`). */
export type Floats = ReadonlyMap<string, string>

export const NO_FLOATS: Floats = new Map()

/** As many are told apart in one text; the others pass for integers. */
export const MAX_FLOATS = 1000

/** The literal that stands for a whole number in floating point; undefined for every other literal. */
export const floatLiteral = (literal: string): string | undefined =>
  /[.eE]/.test(literal) && Number.isInteger(Number(literal)) ? literal : undefined

/** Reports whether one of the numbers stands in this value, which stands at `path`. */
export function holdsFloat(value: JsonValue | undefined, path: string, floats: Floats): boolean {
  if (floats.size === 0) return false
  if (typeof value === 'number' || typeof value === 'bigint') return floats.has(path)
  if (Array.isArray(value)) return value.some((item, index) => holdsFloat(item, `${path}[${index}]`, floats))
  return isObject(value) && Object.entries(value).some(([name, one]) => holdsFloat(one, child(path, name), floats))
}
