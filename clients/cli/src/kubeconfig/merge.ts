/** Merges entries into a kube config. It changes only entries that it has written itself, and keeps everything else. */
import { isDeepStrictEqual } from 'node:util'
import type { JsonObject, JsonValue } from '../../../../lib/engine/meta/types.ts'
import { CliError } from '../io/errors.ts'
import { type Entry, MARK, type Mark, PARTS, type Part, partsOf } from './entries.ts'

interface Named {
  name: string
  content: JsonObject
}

/** Returns the entries of one list. Throws a CliError if it is none. */
function listOf(config: JsonObject, part: Part): Named[] {
  const list = config[`${part}s`] ?? []
  if (!Array.isArray(list)) throw new CliError(`${part}s is not a list`)
  return list.map((one) => {
    const { name, [part]: content } = isObject(one) ? one : {}
    if (typeof name !== 'string') throw new CliError(`an entry of ${part}s has no name`)
    return { name, content: isObject(content) ? content : {} }
  })
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isMarked({ content: { extensions } }: Named, { server, target }: Mark): boolean {
  if (!Array.isArray(extensions)) return false
  return extensions.some(
    (one) => isObject(one) && one.name === MARK && isDeepStrictEqual(one.extension, { server, target }),
  )
}

/** Returns all names of clusters, users and contexts. Throws a CliError if the object is not a kube config. */
export const namesIn = (config: JsonObject): string[] =>
  PARTS.flatMap((part) => listOf(config, part).map(({ name }) => name))

/** Returns the name under which an earlier run has written the entry. */
export const nameOfEarlier = (config: JsonObject, mark: Mark): string | undefined =>
  PARTS.flatMap((part) => listOf(config, part)).find((named) => isMarked(named, mark))?.name

/** Returns the name, or with a number if it is taken. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name}-${number}`
    if (!taken.has(candidate)) return candidate
  }
}

/** Returns the kube config with the entry under this name. An entry of an earlier run is replaced, and stays where it is. */
export function withEntry(config: JsonObject, entry: Entry, name: string): JsonObject {
  const parts = partsOf(entry, name)
  const changed = { ...config }
  for (const part of PARTS) {
    const known = listOf(config, part)
    const at = known.findIndex((named) => named.name === name && isMarked(named, entry.mark))
    const old = known[at]?.content ?? {}
    const list = [...((config[`${part}s`] as JsonValue[] | null | undefined) ?? [])]
    // The namespace of a context and the proxy of a cluster are the user's own.
    const kept = part === 'user' ? {} : without(old, ['server', 'certificate-authority-data', 'certificate-authority'])
    const others = (Array.isArray(old.extensions) ? old.extensions : []).filter(
      (one) => !isObject(one) || one.name !== MARK,
    )
    const { extensions: mark, ...own } = parts[part]
    const content = { ...own, ...kept, ...own, extensions: [...others, ...(mark as JsonObject[])] }
    if (at < 0) list.push({ name, [part]: content })
    else if (!isDeepStrictEqual(withoutNulls(old), withoutNulls(content))) list[at] = { name, [part]: content }
    changed[`${part}s`] = list
  }
  return changed
}

const without = (object: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))

/** kubectl writes some members that are absent as null. */
const withoutNulls = (value: JsonValue): JsonValue =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value).flatMap(([name, one]) => (one === null ? [] : [[name, withoutNulls(one)]])),
      )
    : value
