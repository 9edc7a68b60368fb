/**
 * Creates a key with a value that the browser has made. So nothing is lost with the answer of the server: the same request can be
 * sent again, and it never makes a second key.
 */
import { encodeKey } from '../../../../../lib/engine/meta/value/credentialformat.ts'
import type { AccessKey } from '../../../../core/src/objects.ts'
import type { Api } from '../../api/client.ts'
import { paths } from '../../api/paths.ts'
import { ApiError, isUncertain } from '../../api/status.ts'
import { randomName } from '../../text/names.ts'
import { NAME_PREFIX, type NewKey } from './form.ts'

/** A key that is being created. Forget it as soon as its value is shown: the value is a secret. */
export interface Attempt {
  readonly key: NewKey
  readonly name: string
  readonly value: string
  /** Whether the request was sent before, and its answer was lost. */
  readonly isRepeated: boolean
}

const randomBytes = (size: number) => crypto.getRandomValues(new Uint8Array(size))

export function newAttempt(key: NewKey): Attempt {
  const name = 'name' in key.metadata ? key.metadata.name : randomName(NAME_PREFIX, randomBytes)
  return { key, name, value: encodeKey(randomBytes(32)), isRepeated: false }
}

/**
 * Creates the key, or finds that an earlier request of the same attempt has created it. If that is not known, throws an error
 * that `isUncertain`, and otherwise that of a refusal, after which the key does not exist. `apiWith` sends requests with another
 * key than that of the session.
 */
export async function createKey(api: Api, attempt: Attempt, apiWith: (key: string) => Api): Promise<void> {
  const { key, name, value, isRepeated } = attempt
  const { labels } = key.metadata
  const body = { ...key, metadata: { name, ...(labels && { labels }) }, spec: { ...key.spec, key: value } }
  try {
    await api.send<AccessKey>(paths.keys, { method: 'POST', body })
  } catch (error) {
    // The first request may have succeeded. Then this one meets its name, its value or its share of a quota.
    if (isUncertain(error) || !isRepeated || !(await isOfKey(apiWith(value), name))) throw error
  }
}

/** Lets the server check the key, and creates nothing. */
export const checkKey = async (api: Api, key: NewKey): Promise<void> =>
  void (await api.send(paths.keys, { method: 'POST', body: key, dryRun: true }))

/** Reports whether the API accepts the value as that of the key with this name. */
async function isOfKey(api: Api, name: string): Promise<boolean> {
  try {
    const { status } = await api.send<{ status: { accessKey: string } }>(paths.selves, { method: 'POST', body: {} })
    return status.accessKey === name
  } catch (error) {
    if (!(error instanceof ApiError) || isUncertain(error)) throw error
    // Only the holder of the value is told that its addresses are others.
    return error.code === 403 && error.message.includes(`access key "${name}" may not be used from`)
  }
}
