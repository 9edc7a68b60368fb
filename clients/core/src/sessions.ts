/** Defines the mark of keys that live as long as one command: `keyplane run` makes them. */
import { DAY_SECONDS } from '../../../lib/engine/meta/value/durations.ts'
import type { AccessKey } from './objects.ts'

export const SESSION_LABEL = 'keyplane/session'

/**
 * Reports whether the key is that of a command, which anybody may end without a question. Whoever may change the key can set the mark, and a
 * copy of the key may have it, so it counts only for keys that live for a day or less.
 */
export const isSession = ({ metadata, spec }: Pick<AccessKey, 'metadata' | 'spec'>): boolean =>
  metadata.labels?.[SESSION_LABEL] !== undefined &&
  spec.ttlAfterLastActivity !== true &&
  Number(spec.ttl || Number.POSITIVE_INFINITY) <= DAY_SECONDS

/** Returns the labels without the mark, for a key that is made like another one. */
export function withoutMark(labels: Readonly<Record<string, string>>): Record<string, string> {
  const { [SESSION_LABEL]: _, ...rest } = labels
  return rest
}
