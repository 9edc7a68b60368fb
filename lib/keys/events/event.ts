/**
 * Builds the events that are published about access keys: CloudEvents 1.0. The id is computed from what happened, so an event
 * that is published again has the same id.
 */
import { createHash } from 'node:crypto'
import { rfc3339OfUnix } from '../../engine/meta/encoding/time.ts'
import type { JsonObject } from '../../engine/meta/types.ts'

/** The kinds of events. EventBridge gets the kind as DetailType; the type of the CloudEvent contains it. */
type EventKind =
  | 'created'
  | 'first-used'
  | 'changed'
  | 'expiring'
  | 'expired'
  | 'rotation-started'
  | 'rotated'
  | 'rotation-stalled'
  | 'rotation-replaced'
  | 'reused'
  | 'source-refused'
  | 'leaked'
  | 'revoked'

/** What happened to a key. */
export interface KeyOccurrence {
  kind: EventKind
  /** The name and the uid of the key. */
  name: string
  uid: string
  /** Unix seconds. */
  at: number
  /** Distinguishes it from all others of this kind and key. */
  unique: string
  data: JsonObject
  /** Set if the key no longer exists. */
  gone?: true
}

/** A CloudEvent. */
export interface KeyEvent {
  specversion: '1.0'
  id: string
  source: string
  type: string
  subject: string
  time: string
  datacontenttype: 'application/json'
  data: JsonObject
}

export const kindOf = ({ type }: KeyEvent): string => type.split('.').at(-2) ?? ''

/** Returns the event. `source` is the issuer, and `resource` the plural name of the kind. */
export const toEvent = (
  { kind, name, uid, at, unique, data }: KeyOccurrence,
  { source, resource }: { source: string; resource: string },
): KeyEvent => ({
  specversion: '1.0',
  id: createHash('sha256')
    .update(JSON.stringify([uid, kind, unique]))
    .digest('base64url'),
  source,
  type: `platform.management.accesskey.${kind}.v1`,
  subject: `${resource}/${name}`,
  time: rfc3339OfUnix(at),
  datacontenttype: 'application/json',
  data: { name, uid, ...data },
})
