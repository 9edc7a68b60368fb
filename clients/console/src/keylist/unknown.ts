/** Tells what a filter may mean that the list does not show. */
import type { AccessKey } from '../../../core/src/objects.ts'
import { isLikeValue } from '../text/keyvalue.ts'
import { nameProblem } from '../text/names.ts'
import { cards } from './attention.ts'
import { NAMES, partsOf, VALUES } from './filter.ts'

/** Says what in a filter is no term, although it looks like one, or no value of its term. */
export function unknownWords(filter: string): string | undefined {
  const { words, terms } = partsOf(filter)
  const [name] = words.flatMap((word) => /^([a-z]+):/i.exec(word)?.[1] ?? [])
  if (name) return `There is no ${name}:. Known are ${NAMES.map((one) => `${one}:`).join(', ')}.`
  const known: typeof VALUES = { ...VALUES, needs: [...cards.keys()] }
  const wrong = terms.find((one) => known[one.name]?.includes(one.value.toLowerCase()) === false)
  if (!wrong || /^\d+d$/.test(wrong.value)) return undefined
  return `${wrong.name}: knows ${known[wrong.name]?.join(', ')}.`
}

/** Returns the name of a key that was not read and that the filter may mean, or undefined. It leads to an address, so it is no value. */
export function unreadName(filter: string, read: readonly AccessKey[]): string | undefined {
  const name = filter.trim()
  const isRead = read.some(({ metadata }) => metadata.name === name)
  return name === '' || isRead || isLikeValue(name) || nameProblem(name) !== undefined ? undefined : name
}
