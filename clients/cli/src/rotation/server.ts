/** Asks the server about the values of a key, and for rotations. */
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import type { AccessKey, KeyValue } from '../../../core/src/objects.ts'
import { keyPath } from '../api/keys.ts'
import { API, type Session } from '../api/session.ts'
import { StatusError } from '../api/status.ts'
import { CliError } from '../io/errors.ts'

export interface ShownKey {
  resourceVersion?: string
  isDisabled: boolean
  current: KeyValue | undefined
  pending: KeyValue | undefined
  retiring: KeyValue | undefined
}

/** Returns the key with its values; undefined if the session may not see it. */
export async function lookAt(session: Session, name: string): Promise<ShownKey | undefined> {
  const key = await session.get(keyPath(name)).catch(unless(403, 404))
  if (key === undefined) return undefined
  const { metadata, spec, status } = key as unknown as Partial<AccessKey>
  const valueIn = (state: KeyValue['state']) => status?.values?.find((one) => one.state === state)
  return {
    ...(metadata?.resourceVersion !== undefined && { resourceVersion: metadata.resourceVersion }),
    isDisabled: spec?.disabled === true,
    current: valueIn('Current'),
    pending: valueIn('Pending'),
    retiring: valueIn('Retiring'),
  }
}

/** Returns the name of the key that the session presents. Its request is a use: it makes a pending value current. */
export async function useKey(session: Session): Promise<string> {
  const self = await session.post(`${API}/selves`, {}, { repeatable: true })
  return accessKeyIn(self)
}

/** Returns the name of the key that has the value, which is not used by that; undefined if no living key has it. */
export async function ownerOf(session: Session, value: string): Promise<string | undefined> {
  const self = await session
    .post(`${API}/selves`, { spec: { accessKey: value } }, { repeatable: true })
    .catch(unless(401))
  return self && accessKeyIn(self)
}

function accessKeyIn({ status }: JsonObject): string {
  const { accessKey } = (status ?? {}) as { accessKey?: unknown }
  if (typeof accessKey !== 'string') throw new CliError('The server does not say which access key this is.')
  return accessKey
}

const unless =
  (...codes: number[]) =>
  (error: unknown): undefined => {
    if (!(error instanceof StatusError) || !codes.includes(error.code)) throw error
  }

export interface RotationSpec {
  key?: string
  overlapSeconds?: number
  replace?: boolean
  finish?: boolean
}

/** Which state of the key the rotation is for. */
export interface Precondition {
  resourceVersion: string
}

/** Asks for a rotation. With a value of one's own, a request without a certain answer is repeated, which changes nothing. */
export async function requestRotation(
  session: Session,
  name: string,
  spec: RotationSpec,
  { dryRun = false, precondition }: { dryRun?: boolean; precondition?: Precondition | undefined } = {},
): Promise<JsonObject> {
  const body: JsonObject = { ...(precondition && { metadata: { ...precondition } }), spec: { ...spec } }
  return session.post(`${keyPath(name)}/rotate`, body, { repeatable: true, dryRun })
}
