/** Puts what happened to a key into the words that the command line has, too, and chooses an icon. */
import { actorWords, eventDetails, eventWords as wordsOf } from '../../../../../core/src/historywords.ts'
import type { HistoryEvent } from '../../../../../core/src/objects.ts'

/** What the icon of an event shows. */
export type Shape = 'new' | 'edit' | 'use' | 'value' | 'time' | 'end' | 'alarm'

export interface EventWords {
  shape: Shape
  title: string
  /** Who did it, and the details. Empty if nothing is known. */
  detail: string
}

const SHAPES: ReadonlyMap<string, Shape> = new Map([
  ['created', 'new'],
  ['first-used', 'use'],
  ['new-address', 'use'],
  ['expiring', 'time'],
  ['expired', 'end'],
  ['rotation-started', 'value'],
  ['rotated', 'value'],
  ['rotation-stalled', 'time'],
  ['rotation-replaced', 'value'],
  ['reused', 'alarm'],
  ['source-refused', 'alarm'],
  ['leaked', 'alarm'],
  ['revoked', 'end'],
  ['tokens-unconfirmed', 'alarm'],
])

/** Returns the words of an event. A server of a later release may have other types. */
export function eventWords(event: HistoryEvent): EventWords {
  const title = wordsOf(event)
  const actor = actorWords(event)
  return {
    shape: SHAPES.get(event.type) ?? 'edit',
    title: `${title.charAt(0).toUpperCase()}${title.slice(1)}`,
    detail: [...(actor ? [`by ${actor}`] : []), ...eventDetails(event)].join(', '),
  }
}
