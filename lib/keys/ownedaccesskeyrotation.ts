/** Defines OwnedAccessKeyRotation, which gives an access key a new value while the old one still works (docs/rotation.md). */

import { rfc3339 } from '../engine/meta/encoding/time.ts'
import { type FieldError, forbidden, invalid } from '../engine/meta/errors/fielderror.ts'
import { invalidObject } from '../engine/meta/errors/status.ts'
import { boolean, type FromSchema, int64, object, string, time } from '../engine/meta/schema/schema.ts'
import type { JsonObject } from '../engine/meta/types.ts'
import type { VirtualKind } from '../engine/registry/kind.ts'
import { KINDS } from '../kinds.ts'
import { checkFormat } from './credential/accesskey.ts'
import { decodeKeyInternal } from './credential/keyinternal.ts'
import { rotateKey } from './ownedaccesskeyrotation.change.ts'
import type { Services } from './services.ts'

const { group, kind } = KINDS.OwnedAccessKeyRotation

const DEFAULT_OVERLAP_SECONDS = 3600
const MAX_OVERLAP_SECONDS = 2_592_000

const spec = object('The requested rotation.', {
  overlapSeconds: int64(
    'How long the current value works after the first use of the new one, in seconds. Absent means 3600. 0 means that the first use ends the current value.',
    { minimum: 0, maximum: MAX_OVERLAP_SECONDS },
  ),
  key: string(
    'The new value, a bearer token. The server generates it if it is empty. While this value is pending, a repeated request changes nothing.',
    { writeOnly: 'once' },
  ),
  replace: boolean('If true, replaces a pending value. Anyone who has stored that value can no longer use it.'),
  finish: boolean(
    'If true, the key gets no new value. A pending value ends, or else the retiring value ends now. No other field may be set.',
  ),
})

const status = object('The result of the rotation.', {
  key: string('The new value. Absent in a dry run and after finish.'),
  hint: string('The last six characters of the new value, if it has the format of generated ones.'),
  phase: string('Pending until the new value is used for the first time; Finished after finish.'),
  requestedAt: time('When the rotation was first requested.'),
})

type Spec = FromSchema<typeof spec>

/** Validates beyond the schema. The name in the body must match the name in the path, as for a TokenRequest. */
function validate({ finish, key, ...others }: Spec, given: string | undefined, name: string): FieldError[] {
  const misnamed = given !== undefined && given !== name
  const extra = Object.entries({ ...others, ...(key && { key }) }).filter(([, value]) => value !== false)
  return [
    ...(misnamed ? [invalid('metadata.name', given, 'must match the access key name if specified')] : []),
    ...(key ? checkFormat(key) : []),
    ...(finish ? extra.map(([member]) => forbidden(`spec.${member}`, 'may not be set with spec.finish')) : []),
  ]
}

export const OwnedAccessKeyRotation: VirtualKind<Services> = {
  ...KINDS.OwnedAccessKeyRotation,
  description: 'A new value for an access key, whose old value still works for a while. The server returns it once.',
  grantsAccess: true,
  hasPreconditions: true,
  schema: { spec, status },
  async create({ object: request, name, context }, services) {
    const asked = (request.spec ?? {}) as Spec
    const { resourceVersion, ...metadata } = request.metadata
    const errors = validate(asked, metadata.name, name)
    if (errors.length > 0) throw invalidObject(group, kind, name, errors)
    const { finish = false, replace = false, overlapSeconds = DEFAULT_OVERLAP_SECONDS } = asked
    const value = asked.key || services.keys.generate()
    const rotation = { value, isOwn: Boolean(asked.key), finish, replace, overlapSeconds }
    const target = { name, ...(metadata.uid && { uid: metadata.uid }), ...(resourceVersion && { resourceVersion }) }
    const stored = await rotateKey(services, target, rotation, context)
    const { pending } = decodeKeyInternal(stored.internal)
    const { key: _, ...shown } = asked
    const { uid } = stored.object.metadata
    if (uid !== undefined) context.note('uid', uid)
    const made = pending ? new Date(pending.made * 1000) : context.now
    const result: JsonObject = {
      ...(!finish && !context.dryRun && { key: value, ...(pending?.hint !== undefined && { hint: pending.hint }) }),
      phase: finish ? 'Finished' : 'Pending',
      requestedAt: rfc3339(made),
    }
    return {
      ...request,
      metadata: { ...metadata, name, ...(uid && { uid }) },
      ...(request.spec && { spec: shown }),
      status: result,
    }
  },
}
