/** Sends a change of a key, which can be repeated when its answer was lost. */
import type { AccessKey } from '../../../../core/src/objects.ts'
import type { Api } from '../../api/client.ts'
import { paths } from '../../api/paths.ts'
import { ApiError } from '../../api/status.ts'

export interface KeyPatch {
  metadata: { uid: string; resourceVersion?: string }
  spec: Record<string, unknown>
}

/**
 * Patches the version of the key that the patch names. `wasLost` says whether the answer to an earlier attempt was lost: if that attempt
 * has changed the key, its repetition conflicts with itself, and is done.
 */
export async function patchKey(api: Api, name: string, patch: KeyPatch, wasLost: boolean): Promise<void> {
  try {
    await api.send(paths.key(name), { method: 'PATCH', body: patch })
  } catch (error) {
    const isConflict = error instanceof ApiError && error.code === 409
    if (wasLost && isConflict && isIn(patch, await api.send<AccessKey>(paths.key(name)))) return
    throw error
  }
}

/** Reports whether the key is as the patch makes it. An empty value, or none, is the same to the server. */
function isIn({ metadata, spec }: KeyPatch, live: AccessKey): boolean {
  const textOf = (value: unknown) => JSON.stringify(value || null)
  const members = new Map<string, unknown>(Object.entries(live.spec))
  const isSame = Object.entries(spec).every(([member, value]) => textOf(value) === textOf(members.get(member)))
  return isSame && live.metadata.uid === metadata.uid
}
