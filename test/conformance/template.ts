/** Replaces `{{name}}` by a saved value and `{{x*300}}` by 300 times x, in every text and object key of a step. */
import type { Json } from './scenario.ts'

export function fill<T>(value: T, saved: Readonly<Record<string, string>>): T {
  const text = (one: string): string =>
    one
      .replace(/\{\{(\w)\*(\d+)\}\}/g, (_, character: string, times: string) => character.repeat(Number(times)))
      .replace(/\{\{(\w+)\}\}/g, (whole, name: string) => saved[name] ?? whole)
  const deep = (one: Json): Json => {
    if (typeof one === 'string') return text(one)
    if (Array.isArray(one)) return one.map(deep)
    if (one === null || typeof one !== 'object') return one
    return Object.fromEntries(Object.entries(one).map(([key, member]) => [text(key), deep(member)]))
  }
  return deep(value)
}
