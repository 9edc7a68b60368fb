/**
 * Replaces values that differ between runs, so that answers can be compared. UIDs become `uid#1`, resourceVersions of
 * objects `rv#1` (numbered by first appearance, so that changes remain visible), times of this hour `time`, generated
 * names `base-*****`, resourceVersions of lists, continue tokens and counts `set`, ages in cells `age`.
 * Lists without a defined order (managedFields, causes, verbs) are sorted.
 */
import type { Json } from './scenario.ts'

export interface Names {
  /** Registers the objects in an answer. */
  learn(answer: Json): void
  /** Treats names with this base as generated from now on. */
  generates(base: string): void
  text(text: string): string
  /** Replaces a value; `key` and `parent` give its place. */
  value(value: Json, key?: string, parent?: Json): Json
}

const hour = 3_600_000
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z\b/g
const VERSION = /(resource ?version\b[^0-9\n]{0,24})\b(\d+)\b/gi
const CURRENT = /(resource version: \w+, current: )\d+/g
const AGE = /^(\d+[smhd])+$/

const nameTime = (time: string): string => (Math.abs(Date.parse(time) - Date.now()) < hour ? 'time' : time)

/** Returns JSON with sorted members as a sort key. */
function sortable(value: Json): string {
  return JSON.stringify(value, (_, one) =>
    one !== null && typeof one === 'object' && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  )
}

const by =
  (text: (value: Json) => string) =>
  (a: Json, b: Json): number =>
    text(a).localeCompare(text(b))

const orders: Readonly<Record<string, (a: Json, b: Json) => number>> = {
  causes: by(sortable),
  verbs: by(sortable),
  managedFields: by(({ manager, operation, subresource = '' }) => JSON.stringify([manager, operation, subresource])),
}

/** `run` is the word that makes the names of this run unique. */
export function createNames(run: string): Names {
  const uids = new Map<string, string>()
  const versions = new Map<string, string>()
  const bases = new Set<string>()

  function learnMetadata({ uid, resourceVersion, name, generateName }: Json): void {
    if (typeof uid === 'string' && uid !== '') {
      if (!uids.has(uid)) uids.set(uid, `uid#${uids.size + 1}`)
      const version = `${uid}/${resourceVersion}`
      if (typeof resourceVersion === 'string' && !versions.has(version))
        versions.set(version, `rv#${versions.size + 1}`)
    }
    if (name?.startsWith(cutBase(generateName))) generates(generateName)
  }

  function generates(base: Json): void {
    if (cutBase(base) !== '') bases.add(cutBase(base))
  }

  function learn(value: Json): void {
    if (value === null || typeof value !== 'object') return
    const { kind, metadata, items, details } = value
    if (kind === 'Status' && details?.uid) learnMetadata({ uid: details.uid })
    if (metadata !== null && typeof metadata === 'object' && items === undefined) learnMetadata(metadata)
    for (const one of Object.values(value)) learn(one)
  }

  function text(original: string): string {
    let result = original
    for (const [uid, name] of uids) result = result.replaceAll(uid, name)
    for (const base of bases) result = result.replaceAll(suffixPattern(base), `${base}*****`)
    result = result.replaceAll(run, '{{run}}')
    return result
      .replace(VERSION, (_, words: string, version: string) => {
        const known = [...versions].findLast(([id]) => id.endsWith(`/${version}`))?.[1]
        return words + (version === '0' ? version : (known ?? 'set'))
      })
      .replace(CURRENT, '$1set')
      .replace(TIME, nameTime)
  }

  function string(value: string, key: string | undefined, parent: Json): string {
    if (key === 'resourceVersion') {
      return parent?.uid ? (versions.get(`${parent.uid}/${value}`) ?? value) : value && 'set'
    }
    return key === 'continue' ? value && 'set' : text(value)
  }

  function value(original: Json, key?: string, parent?: Json): Json {
    if (typeof original === 'string') return string(original, key, parent)
    if (key === 'remainingItemCount' && original > 0) return 'set'
    if (Array.isArray(original)) {
      const items = original.map((one) => (key === 'cells' && AGE.test(one) ? 'age' : value(one)))
      const order = key === undefined ? undefined : orders[key]
      return order ? items.sort(order) : items
    }
    if (original === null || typeof original !== 'object') return original
    return Object.fromEntries(
      Object.entries(original).map(([name, member]) => [text(name), value(member, name, original)]),
    )
  }

  return { learn, generates, text, value }
}

/** Returns the part of a base that a generated name contains. */
const cutBase = (base: Json): string => (typeof base === 'string' ? base.slice(0, 58) : '')

const suffixPattern = (base: string): RegExp =>
  new RegExp(`${base.replace(/[^\w]/g, '\\$&')}[bcdfghjklmnpqrstvwxz2456789]{5}\\b`, 'g')
