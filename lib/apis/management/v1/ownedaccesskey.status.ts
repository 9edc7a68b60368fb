/** The status of an access key as reads show it: computed, never written. */
import { keyStatus } from '../../../authentication/keystatus.ts'
import { effectiveUser } from '../../../authorization/identity.ts'
import { rfc3339 } from '../../../meta/time.ts'
import type { JsonObject, KubeObject } from '../../../meta/types.ts'
import type { Stored } from '../../../storage/interface.ts'
import { keyOf } from './ownedaccesskey.values.ts'
import type { Services } from './services.ts'

const seconds = (time: string | undefined): number => Math.floor(Date.parse(time ?? '') / 1000)

/** The object with what is computed on reads: who owns it, whether it gives access, until when. */
export function present({ keys }: Services, stored: Stored, now: Date): KubeObject {
  const { object, activity } = stored
  const key = keyOf(stored)
  const written = object.status?.lastActivity
  const lastActivity = activity === undefined ? undefined : rfc3339(new Date(activity))
  const latest = [written, lastActivity]
    .filter((one) => typeof one === 'string')
    .sort((a, b) => seconds(b) - seconds(a))[0]
  const { state, expires } = keyStatus(
    {
      created: seconds(object.metadata.creationTimestamp),
      ...(activity !== undefined && { lastActivity: Math.floor(activity / 1000) }),
      ...(key.spec.ttl && { ttl: Number(key.spec.ttl) }),
      ttlAfterLastActivity: key.spec.ttlAfterLastActivity === true,
      disabled: key.spec.disabled === true,
      deleted: object.metadata.deletionTimestamp !== undefined,
    },
    Math.floor(now.getTime() / 1000),
    keys.limits,
  )
  const computed: JsonObject = {
    ...(latest !== undefined && { lastActivity: latest }),
    owner: effectiveUser(key).name,
    phase: state,
    ...(expires !== undefined && { expirationTimestamp: rfc3339(new Date(expires * 1000)) }),
  }
  return { ...object, status: { ...object.status, ...computed } }
}
