/** Asks the server who the holder of the session's key is. */
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import type { Self as SelfStatus } from '../../../core/src/objects.ts'
import { CliError } from '../io/errors.ts'
import { API, type Session } from './session.ts'
import { WRONG_URL } from './status.ts'

export interface Self {
  object: JsonObject
  status: Partial<SelfStatus>
}

/** Returns the user and the key of the session. Throws a CliError when another service answers. */
export async function readSelf(session: Session): Promise<Self> {
  const object = await session.post(`${API}/selves`, {}, { repeatable: true })
  if (object.kind !== 'Self') {
    throw new CliError(`${session.server} answered, but not as this API does.`, { hint: WRONG_URL })
  }
  return { object, status: (object.status ?? {}) as Self['status'] }
}
