/** Finds what the overview shows of the access keys. Each count has the address of the list of just these keys. */
import { isExchanged } from '../../../../../core/src/keylives.ts'
import type { AccessKey } from '../../../../../core/src/objects.ts'
import { isActive } from '../../../api/keyfacts.ts'
import { TRUST_LABEL } from '../../../api/trusts.ts'
import { cards, needs } from '../../../keylist/attention.ts'
import { termText } from '../../../keylist/filter.ts'
import { hrefOfView } from '../../../keylist/view.ts'

export interface Group {
  /** May be a text of others. */
  title: string
  /** What to do. */
  about: string
  keys: AccessKey[]
  /** The address of the list. */
  href: string
}

export interface Event {
  name: string
  at: string
  words: string
}

export interface Overview {
  /** What needs attention, the most urgent first. */
  attention: Group[]
  /** The keys of exchanges that work, by trust: the trust with the most first. */
  exchanges: Group[]
  /** What happened last, as far as keys say it themselves. */
  events: Event[]
}

/** So many events are shown. */
const MOST_EVENTS = 12

export function overviewOf(keys: readonly AccessKey[], now: Date): Overview {
  const lasting = keys.filter((key) => !isExchanged(key))
  const exchanged = keys.filter((key) => isExchanged(key) && isActive(key))
  const trustOf = ({ metadata }: AccessKey) => metadata.labels?.[TRUST_LABEL] ?? ''
  return {
    attention: [...cards]
      .map(([name, { title, about }]) => ({
        title,
        about,
        keys: lasting.filter((key) => needs(name, key, now)),
        href: hrefOfView({ filter: termText({ name: 'needs', value: name }) }),
      }))
      .filter((group) => group.keys.length > 0),
    exchanges: [...new Set(exchanged.map(trustOf))]
      .map((value) => ({
        title: value || 'without a label',
        about: '',
        keys: exchanged.filter((key) => trustOf(key) === value),
        href: hrefOfView({ filter: `${termText({ name: 'trust', value })} state:active` }),
      }))
      .sort((a, b) => b.keys.length - a.keys.length || (a.title < b.title ? -1 : 1)),
    events: lasting
      .flatMap((key) => eventsOf(key, now))
      .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
      .slice(0, MOST_EVENTS),
  }
}

/** Returns what happened to a key up to now. Times that cannot be read are left out. */
function eventsOf({ metadata, status = {} }: AccessKey, now: Date): Event[] {
  const events: [at: string | undefined, words: string][] = [
    [metadata.deletionTimestamp, 'deletion was requested'],
    [status.leak?.reported, 'reported as leaked'],
    [status.expirationTimestamp, 'expired'],
    [status.values?.find(({ state }) => state === 'Pending')?.made, 'new value made'],
    [status.lastRotation, 'rotated'],
    [metadata.creationTimestamp, 'created'],
  ]
  return events.flatMap(([at, words]) =>
    at !== undefined && Date.parse(at) <= now.getTime() ? [{ name: metadata.name, at, words }] : [],
  )
}
