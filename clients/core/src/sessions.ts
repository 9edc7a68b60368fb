/** Defines the mark of keys that live as long as one command: `keyplane run` makes them. */
import type { AccessKey } from './objects.ts'

export const SESSION_LABEL = 'keyplane/session'

/** Reports whether the key is that of a command. Anybody who may change the key can set the mark, which allows nothing. */
export const isSession = ({ metadata }: Pick<AccessKey, 'metadata'>): boolean =>
  metadata.labels?.[SESSION_LABEL] !== undefined
