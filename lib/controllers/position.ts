/** Stores the position of a full pass in the table, so that a pass can take several invocations. */
import type { Deadline } from '../meta/errors/deadline.ts'
import type { Storage } from '../storage/interface.ts'

interface Position {
  /** The resource that the pass reads. */
  resource: string
  /** The last key that the pass has checked. */
  after: string
}

const key = { pk: 'collector#pass', sk: '#' }

/** Returns the position of an interrupted pass, if any. */
export async function readPosition(storage: Storage): Promise<Position | undefined> {
  const { resource, after } = (await storage.getCompanion(key.pk, key.sk))?.attributes ?? {}
  return typeof resource === 'string' && typeof after === 'string' ? { resource, after } : undefined
}

/** Stores a position. Undefined: the next pass starts at the beginning. */
export const savePosition = (
  { storage, deadline }: { storage: Storage; deadline: Deadline },
  position: Position | undefined,
): Promise<void> => storage.keepCompanion({ ...key, attributes: position ? { ...position } : {} }, { deadline })
