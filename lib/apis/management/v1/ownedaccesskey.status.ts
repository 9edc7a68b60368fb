/** Computes the status of an access key on each read. The computed fields are never stored. */
import { type KeyStatus, keyStatus, lifeOf } from '../../../authentication/keystatus.ts'
import { effectiveUser } from '../../../authorization/users/identity.ts'
import { parseTime, rfc3339 } from '../../../meta/encoding/time.ts'
import type { JsonObject, KubeObject } from '../../../meta/types.ts'
import type { Stored } from '../../../storage/interface.ts'
import { toKey } from './ownedaccesskey.values.ts'
import type { Services } from './services.ts'

/** Returns whether a key gives access, and until when. */
export const lifeAt = ({ limits }: Services['keys'], { object, activity }: Stored, now: Date): KeyStatus =>
  keyStatus(
    lifeOf(object, activity === undefined ? undefined : Math.floor(activity / 1000)),
    Math.floor(now.getTime() / 1000),
    limits,
  )

/** Returns the time in milliseconds. A text that the schema accepts but that is no valid time sorts first. */
const momentOf = (text: string): number => parseTime(text)?.getTime() ?? Number.NEGATIVE_INFINITY

/** Returns the object with its computed status: the owner, the phase and the expiration time. */
export function present({ keys }: Pick<Services, 'keys'>, stored: Stored, now: Date): KubeObject {
  const { object, activity } = stored
  const written = object.status?.lastActivity
  const lastActivity = activity === undefined ? undefined : rfc3339(new Date(activity))
  const latest = [written, lastActivity]
    .filter((one) => typeof one === 'string')
    .sort((a, b) => momentOf(b) - momentOf(a))[0]
  const { state, expires } = lifeAt(keys, stored, now)
  const computed: JsonObject = {
    ...(latest !== undefined && { lastActivity: latest }),
    owner: effectiveUser(toKey(stored)).name,
    phase: state,
    ...(expires !== undefined && { expirationTimestamp: rfc3339(new Date(expires * 1000)) }),
  }
  return { ...object, status: { ...object.status, ...computed } }
}
