/** Finds the key that made a key. */
import type { AccessKey } from '../../../../../core/src/objects.ts'

/** Returns the name of the key that made it, if the person may see that key. */
export const visibleMaker = (uid: string, keys: readonly AccessKey[]): string | undefined =>
  keys.find(({ metadata }) => metadata.uid === uid)?.metadata.name
