/** Puts into words what a key used: the lines of its scope and the clusters. Servers of other releases may send anything. */
import type { Scope } from '../../../../../core/src/objects.ts'
import type { KeyUsage } from '../../../../../core/src/usage.ts'
import { scopeEntries } from '../../../text/scopeentries.ts'
import { dayWords } from '../../../text/times.ts'

/** Returns a day of the API in words, such as `26 Nov 2026`. */
export const onDay = (day: string): string => (Number.isNaN(Date.parse(day)) ? day : dayWords(day))

export interface LineWords {
  /** The name of the line. */
  line: string
  /** What it allows. */
  words: string
  state: 'Used' | 'Unused' | 'Unknown'
  /** The state in words, such as `Used, last on 26 Nov 2026`. */
  stateWords: string
}

/** Returns the lines in words. Those that the key inherited are named only: its own object does not have them. */
export function lineWords(lines: NonNullable<KeyUsage['lines']>, scope: Scope | undefined): LineWords[] {
  const own = ownPrefix(lines, scope)
  return lines.map(({ line, state, lastUsed }) => {
    const known = state === 'Used' || state === 'Unused' ? state : 'Unknown'
    const last = known === 'Used' && lastUsed !== undefined ? `, last on ${onDay(lastUsed)}` : ''
    const words = own !== undefined && line.startsWith(own) ? entryWords(line.slice(own.length), scope) : undefined
    return { line, words: words ?? inheritedWords(line), state: known, stateWords: `${known}${last}` }
  })
}

/** Returns how the names of the own lines begin. The own scope is the last one of a chain. */
function ownPrefix(lines: NonNullable<KeyUsage['lines']>, scope: Scope | undefined): string | undefined {
  if (scopeEntries(scope).length === 0) return undefined
  return /^(?:chain\[\d+\]\.)?spec\.scope\./.exec(lines.at(-1)?.line ?? '')?.[0]
}

function entryWords(path: string, scope: Scope | undefined): string | undefined {
  const [, member = '', index] = /^(\w+)(?:\[(\d+)\])?$/.exec(path) ?? []
  const value = new Map(Object.entries(scope ?? {})).get(member)
  const [words] = scopeEntries({ [member]: index === undefined ? value : [(value as unknown[] | undefined)?.[+index]] })
  return words
}

const inheritedWords = (line: string): string => `inherited: ${line.replace(/^(?:chain\[\d+\]\.)?spec\.scope\./, '')}`

/** Returns what must be known of the recording, a sentence each. */
export function recordingWords({ recording, since, complete }: KeyUsage): string[] {
  return [
    recording === false
      ? 'This deployment does not record usage, so this page does not show what the key does now.'
      : since === undefined
        ? 'It is not known yet how far back the record goes.'
        : `Recorded since ${onDay(since.slice(0, 10))}.`,
    ...(complete === false && recording !== false
      ? ['The key did more than is recorded, so what is missing here may be used.']
      : []),
  ]
}

const KINDS: Readonly<Record<string, string>> = { clusters: 'Cluster', virtualclusters: 'Virtual cluster' }

/** Returns what is known of the use in a cluster. */
export function clusterWords({ name, lastAccepted, lastAsked }: NonNullable<KeyUsage['clusters']>[number]): string {
  const [kind = '', ...rest] = name.split('/')
  const noun = KINDS[kind]
  const cluster = noun ? `${noun} ${rest.join('/')}` : name
  const accepted = lastAccepted === undefined ? '' : ` It last accepted the key on ${onDay(lastAccepted)}.`
  return lastAsked === undefined
    ? `${cluster} never asks about requests, so what the key does there is not known.${accepted}`
    : `${cluster} last asked on ${onDay(lastAsked)}.${accepted}`
}
