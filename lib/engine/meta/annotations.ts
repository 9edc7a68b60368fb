/** Defines the size limit of annotations and the annotation in which kubectl stores the manifest. */
import type { JsonValue } from './types.ts'

/** Limits the total size of an object's annotations, keys and values. Source: k8s.io/apimachinery/pkg/api/validation/objectmeta.go. */
export const MAX_ANNOTATION_BYTES = 256 * 1024

/** Holds kubectl's copy of the manifest, which may contain any field of the object as text. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** Returns the total size of keys and values in UTF-8 bytes. */
export const annotationBytes = (annotations: Readonly<Record<string, JsonValue>>): number =>
  Object.entries(annotations).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(String(value)),
    0,
  )
