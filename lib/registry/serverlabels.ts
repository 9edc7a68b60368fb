/**
 * Keeps labels of `management.platform/` as the server has set them. Lists and revocations select keys by them, so a client that
 * could change one would decide which keys they find.
 */
import { type FieldError, findingsOf, forbidden } from '../meta/errors/fielderror.ts'
import type { ObjectMeta } from '../meta/types.ts'
import { own } from '../meta/value/walk.ts'

const PREFIX = 'management.platform/'

/** Returns the 422 errors for labels of the server that a client adds, changes or removes. */
export function validateServerLabels({ labels = {} }: ObjectMeta, { labels: old = {} }: ObjectMeta = {}): FieldError[] {
  const names = [...new Set([...Object.keys(old), ...Object.keys(labels)])]
  return findingsOf(names.filter((name) => name.startsWith(PREFIX)).sort(), (name) =>
    own(labels, name) === own(old, name)
      ? []
      : [forbidden('metadata.labels', `${name}: only the server sets labels of ${PREFIX}`)],
  )
}
