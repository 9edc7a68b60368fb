/** Where a pass over all objects is, kept in the table: no invocation need have the time for all of it. */
import type { Deadline } from '../meta/errors/deadline.ts'
import type { Storage } from '../storage/interface.ts'

export interface Position {
  /** The kind that is being read. */
  resource: string
  /** The last key that was looked at. */
  after: string
}

const key = { pk: 'collector#pass', sk: '#' }

/** Undefined where no pass was interrupted. */
export async function parsePlace(storage: Storage): Promise<Position | undefined> {
  const { resource, after } = (await storage.getCompanion(key.pk, key.sk))?.attributes ?? {}
  return typeof resource === 'string' && typeof after === 'string' ? { resource, after } : undefined
}

/** Undefined: the next pass begins at the beginning. */
export const savePosition = (
  { storage, deadline }: { storage: Storage; deadline: Deadline },
  place: Position | undefined,
): Promise<void> => storage.keepCompanion({ ...key, attributes: place ? { ...place } : {} }, { deadline })
