/** Makes the patch of an edited key: only the fields that the person has changed, for the version that the person has seen. */
import { eachKeyText, type KeyTextName, keyTexts } from '../../../../../../lib/keys/ownedaccesskey.texts.ts'
import type { AccessKey } from '../../../../../core/src/objects.ts'
import { choiceOf, type LifetimeChoice, secondsOf } from '../../../text/lifetimechoice.ts'
import { sourcesOf } from '../../../text/sources.ts'
import type { KeyPatch } from './patchkey.ts'

interface Fields extends LifetimeChoice, Record<KeyTextName, string> {
  /** One address a line. */
  sources: string
}

/** What a person has made of a version of a key. */
export interface Edit {
  resourceVersion: string
  before: Fields
  after: Fields
}

/** Returns an edit that changes nothing yet. */
export function editOf({ metadata: { resourceVersion }, spec }: AccessKey): Edit {
  const before: Fields = {
    ...eachKeyText(({ name }) => spec[name] ?? ''),
    ...choiceOf(spec.ttl),
    sources: (spec.sourceCIDRs ?? []).join('\n'),
  }
  return { resourceVersion, before, after: before }
}

/** Returns the merge patch of the key with the uid, or undefined if nothing has changed. */
export function patchOf(uid: string, { resourceVersion, before, after }: Edit): KeyPatch | undefined {
  const texts = keyTexts.filter(({ name }) => after[name] !== before[name])
  const ttl = secondsOf(after)
  const sources = sourcesOf(after.sources)
  const spec = {
    ...Object.fromEntries(texts.map(({ name }) => [name, after[name]])),
    ...(ttl !== secondsOf(before) && { ttl: ttl ?? null }),
    ...(sources.join() !== sourcesOf(before.sources).join() && { sourceCIDRs: sources.length > 0 ? sources : null }),
  }
  return Object.keys(spec).length === 0 ? undefined : { metadata: { uid, resourceVersion }, spec }
}

/** Returns when the key would expire, in milliseconds, or undefined if it would not or the choice is not complete. */
export function endWith({ metadata, spec, status }: AccessKey, choice: LifetimeChoice): number | undefined {
  const seconds = secondsOf(choice)
  const start = (spec.ttlAfterLastActivity && status?.lastActivity) || metadata.creationTimestamp
  const end = Date.parse(start) + (seconds ?? 0) * 1000
  return seconds && !Number.isNaN(end) ? end : undefined
}
