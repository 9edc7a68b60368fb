/** What is known of annotations beyond their syntax: how large they may be, and which of them may hold a manifest. */
import type { JsonValue } from './types.ts'

/** Of all annotations of an object, keys and values together. Source: k8s.io/apimachinery/pkg/api/validation/objectmeta.go. */
export const MAX_ANNOTATION_BYTES = 256 * 1024

/** kubectl's copy of the manifest, which may hold any field of the object as text. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** UTF-8 bytes of keys and values. */
export const annotationBytes = (annotations: Readonly<Record<string, JsonValue>>): number =>
  Object.entries(annotations).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(String(value)),
    0,
  )
