/** Sends a change of a key, which can be repeated when its answer was lost. */
import type { AccessKey } from '../../../../../core/src/objects.ts'
import type { Api } from '../../../api/client.ts'
import { paths } from '../../../api/paths.ts'
import { ApiError } from '../../../api/status.ts'
import { isSame } from '../../../text/same.ts'

export interface KeyPatch {
  metadata: { uid: string; resourceVersion?: string; annotations?: Record<string, string | null> }
  spec: Record<string, unknown>
}

/** Patches the version of the key that the merge patch names. */
export const patchKey = (api: Api, name: string, patch: KeyPatch, wasLost: boolean): Promise<void> =>
  sendPatch(api, name, patch, (live) => isIn(patch, live), wasLost)

/**
 * Sends a patch of one version of a key. `wasLost` says whether the answer to an earlier attempt was lost: if that attempt has changed the
 * key, as `isDone` finds out, its repetition conflicts with itself, and is done.
 */
export async function sendPatch(
  api: Api,
  name: string,
  body: object,
  isDone: (live: AccessKey) => boolean,
  wasLost: boolean,
): Promise<void> {
  try {
    await api.send(paths.key(name), { method: 'PATCH', body })
  } catch (error) {
    const isConflict = error instanceof ApiError && error.code === 409
    if (wasLost && isConflict && isDone(await api.send<AccessKey>(paths.key(name)))) return
    throw error
  }
}

/** Returns what to try before the patch of a key with which clusters may ask. */
export const reviewerPatch = ({ metadata: { name }, status }: AccessKey, body: object | undefined) =>
  status?.mayReview === true && body !== undefined
    ? { path: paths.key(name), call: { method: 'PATCH', body } as const, name }
    : undefined

/** Reports whether the key is as the patch makes it. An empty value, or none, is the same to the server. */
function isIn({ metadata, spec }: KeyPatch, live: AccessKey): boolean {
  const members = new Map<string, unknown>(Object.entries(live.spec))
  const isSet = ([member, value]: [string, unknown]) => isSame(withoutNull(value) || null, members.get(member) || null)
  return Object.entries(spec).every(isSet) && live.metadata.uid === metadata.uid
}

/** Returns what a merge patch leaves of an object. */
const withoutNull = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))
    : value
