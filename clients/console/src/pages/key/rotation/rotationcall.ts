/**
 * Rotates a key. The console makes the new value itself, so that a request whose answer was lost can be repeated: the same value
 * again changes nothing, and the key never gets a second one by accident.
 */
import type { AccessKey } from '../../../../../core/src/objects.ts'
import type { Api } from '../../../api/client.ts'
import { paths } from '../../../api/paths.ts'
import { ApiError } from '../../../api/status.ts'

export interface Attempt {
  /** The new value. */
  value: string
  overlapSeconds: number
  /** The version of the key whose pending value it replaces, if it replaces one. */
  replaces?: string
  /** Whether a request with it was sent, and no answer came that says what became of it. */
  isLost: boolean
}

const call = (api: Api, { metadata: { name, uid } }: AccessKey, spec: object, resourceVersion?: string) =>
  api.send(paths.rotate(name), {
    method: 'POST',
    body: { metadata: { name, uid, ...(resourceVersion && { resourceVersion }) }, spec },
  })

/** Gives the key the value. Throws an ApiError or a NetworkError. */
export async function rotate(
  api: Api,
  key: AccessKey,
  { value, overlapSeconds, replaces, isLost }: Attempt,
): Promise<void> {
  const spec = { key: value, overlapSeconds }
  if (replaces === undefined) return void (await call(api, key, spec))
  // A replacement that was done already has another version of the key. Without `replace` its repetition changes nothing.
  if (isLost) {
    try {
      return void (await call(api, key, spec))
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 409)) throw error
    }
  }
  await call(api, key, { ...spec, replace: true }, replaces)
}

/**
 * Ends the pending or the retiring value. Looks at the key first, because `finish` ends whichever there is. Returns false, without
 * a change, if it is not the value that the person has seen.
 */
export async function finish(api: Api, seen: AccessKey): Promise<boolean> {
  const live = await api.send<AccessKey>(paths.key(seen.metadata.name))
  if (live.metadata.uid !== seen.metadata.uid || shapeOf(live) !== shapeOf(seen)) return false
  await call(api, live, { finish: true }, live.metadata.resourceVersion)
  return true
}

const shapeOf = ({ status }: AccessKey): string =>
  JSON.stringify(status?.values?.map(({ state, made }) => [state, made ?? '']))
