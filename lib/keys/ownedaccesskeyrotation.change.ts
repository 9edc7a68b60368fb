/** Decides about a rotation of an access key, and changes the values of the key. */

import { evaluateHere } from '../access/scopes/evaluate.ts'
import { FINAL } from '../access/users/ends.ts'
import { isOfCluster } from '../access/users/reviewright.ts'
import { endlessErrors, NO_FINISH, overlapErrors, replaceableFrom } from '../access/users/selfrotate.ts'
import { rfc3339OfUnix, unixSeconds } from '../engine/meta/encoding/time.ts'
import { forbidden } from '../engine/meta/errors/fielderror.ts'
import { conflict, forbiddenResource, invalidObject } from '../engine/meta/errors/status.ts'
import { defined } from '../engine/meta/value/defined.ts'
import { groupResource, type RequestContext } from '../engine/registry/kind.ts'
import { type UpdateRequest, updateObject } from '../engine/registry/update.ts'
import type { Stored } from '../engine/storage/interface.ts'
import { KINDS } from '../kinds.ts'
import { duplicateKey, hintOf } from './credential/accesskey.ts'
import { decodeKeyInternal, type KeyInternal } from './credential/keyinternal.ts'
import { lifeOf } from './credential/keystatus.ts'
import { makerOf, requireNewValue } from './ownedaccesskey.credential.ts'
import { lifeAt } from './ownedaccesskey.status.ts'
import type { KeyIntent, PlannedChange } from './ownedaccesskey.values.ts'
import { isForTarget, specOf, WITHOUT_VALUE } from './ownedaccesskey.values.ts'
import type { Services } from './services.ts'
import { findValue, hasValue, sameHash } from './values/keyvalues.ts'
import { finishRotation, startRotation } from './values/rotation.ts'

const { group, kind, subresource } = KINDS.OwnedAccessKeyRotation
const resource = groupResource(KINDS.OwnedAccessKey)
const asked = { verb: 'create', subresource } as const

export interface Rotation {
  value: string
  /** Whether the client chose the value. */
  isOwn: boolean
  finish: boolean
  replace: boolean
  overlapSeconds: number
}

/** Throws 409 if the key gives no access any more, or if the value of the request is the retiring one. */
function demandAlive({ keys }: Services, settled: KeyInternal, old: Stored, { user, now, warn }: RequestContext): void {
  const { name = '', uid } = old.object.metadata
  const { state, expires } = lifeAt(keys, old, now)
  if (state === 'Terminating') throw conflict(resource, name, 'the access key is being deleted')
  if (state === 'Unused') throw conflict(resource, name, FINAL)
  if (expires !== undefined && expires <= unixSeconds(now)) {
    throw conflict(resource, name, 'expired access keys cannot be rotated')
  }
  const presented = uid === user.key.uid && user.credential ? findValue(settled, user.credential) : undefined
  if (presented?.state === 'Retiring') {
    throw conflict(resource, name, 'the value used was rotated: only the new one may rotate the access key')
  }
  if (state === 'Disabled') warn(`access key ${JSON.stringify(name)} is disabled: no value works until it is enabled`)
}

/** Throws 403 or 422 for what only the role selfRotate allows, but not for this key or in this way. */
function demandSelfRotation({ object, internal }: Stored, { finish, overlapSeconds }: Rotation): void {
  const { name = '' } = object.metadata
  if (finish) throw forbiddenResource(resource, name, NO_FINISH)
  const spec = specOf(object)
  const isEndless = isOfCluster(decodeKeyInternal(internal), spec.scope)
  const errors = [...endlessErrors(spec, isEndless), ...overlapErrors(overlapSeconds)]
  if (errors.length > 0) throw invalidObject(group, kind, name, errors)
}

/** Throws 409 during an overlap, and while a value is pending that the request does not replace. */
function requireNoOpenRotation(
  settled: KeyInternal,
  name: string,
  { replace }: Rotation,
  isSelf: boolean,
  now: number,
): void {
  const { pending, retiring } = settled
  if (retiring) {
    const why = `the previous value works until ${rfc3339OfUnix(retiring.until)}: the access key cannot be rotated before, unless spec.finish ends it`
    throw conflict(resource, name, why)
  }
  if (!pending) return
  const since = `a value has been pending since ${rfc3339OfUnix(pending.made)}`
  if (!replace) throw conflict(resource, name, `${since}: use it, or set spec.replace to end it`)
  const from = replaceableFrom(pending.made)
  if (isSelf && now < from) {
    throw conflict(resource, name, `${since}: with role selfRotate it may be replaced from ${rfc3339OfUnix(from)} on`)
  }
}

/** The key to rotate, and what it must be. */
interface RotationTarget {
  name: string
  uid?: string
  resourceVersion?: string
}

/** Rotates the key and returns it. Throws 404, 403, 409 (uid, resourceVersion, another rotation), 422. */
export async function rotateKey(
  services: Services,
  { resourceVersion, ...target }: RotationTarget,
  rotation: Rotation,
  context: RequestContext,
): Promise<Stored> {
  const request: UpdateRequest<KeyIntent> = {
    ...target,
    ...(resourceVersion && { resourceVersion }),
    namespace: '',
    subresource: '',
    verb: 'update',
    access: asked,
    transform: (live) => ({
      object: resourceVersion ? { ...live, metadata: { ...live.metadata, resourceVersion } } : live,
      secrets: [],
    }),
    intent: {
      type: 'rotation',
      change: (settled, old, context) => changeOf(services, rotation, settled, old, context),
    },
  }
  const { stored } = await updateObject(services.keyStore(), request, context)
  return stored
}

/** Returns the change of the values that a rotation makes. Undefined: its value is pending already. */
async function changeOf(
  services: Services,
  rotation: Rotation,
  settled: KeyInternal,
  old: Stored,
  context: RequestContext,
): Promise<PlannedChange | undefined> {
  const { keys, scopes } = services
  const { value, isOwn, finish, overlapSeconds } = rotation
  const { name = '' } = old.object.metadata
  if (isForTarget(old)) throw invalidObject(group, kind, name, [forbidden('spec', WITHOUT_VALUE)])
  demandAlive(services, settled, old, context)
  const decision = evaluateHere(context.user.chain, KINDS.OwnedAccessKey, { ...asked, name }, scopes)
  const isSelf = decision.allowed && decision.self === true
  if (isSelf) demandSelfRotation(old, rotation)
  if (finish) return finishRotation(settled)

  const hashes = await keys.hashes(value)
  const { pending } = settled
  if (pending && hashes.some((hash) => sameHash(hash, pending.credential))) return undefined
  const now = unixSeconds(context.now)
  requireNoOpenRotation(settled, name, rotation, isSelf, now)
  const [credential] = hashes
  if (!credential) throw new Error('there is no pepper to hash access keys with')
  // A value may have ended only now that the open rotation was settled, and has no tombstone yet.
  const states = [decodeKeyInternal(old.internal), settled]
  if (states.some((internal) => hashes.some((hash) => hasValue(internal, hash)))) {
    throw invalidObject(group, kind, name, [duplicateKey])
  }
  // Another request may have made this value pending since the key was read: the write then runs again.
  const items = isOwn ? await requireNewValue(services, name, { hashes, stored: credential, known: name }) : []
  context.note('credential', 'access key')
  const hint = defined({ hint: hintOf(value) })
  const made = { credential, made: now, by: makerOf(context.user, settled, old), ...hint, overlap: overlapSeconds }
  return { ...startRotation(settled, made, lifeOf(old.object).created), items }
}
