/** The media types of bodies: what requests may have, and what the document says of them. */
import type { MediaType } from '../../meta/decoding/codecs.ts'

/** Of objects. */
export const bodyTypes: Readonly<Record<string, MediaType>> = { 'application/json': 'json', 'application/yaml': 'yaml' }

/** Of patches; a strategic merge is none, as for custom resources. */
export const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/apply-patch+yaml',
] as const

export type PatchType = (typeof patchTypes)[number]
