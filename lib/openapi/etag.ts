/** The hash by which clients know that a document is the one that they keep. */
import { createHash } from 'node:crypto'

/** sha512, upper-case hex, as kube-apiserver has it in ETags and in the index of OpenAPI documents. */
export const contentHash = (text: string): string => createHash('sha512').update(text).digest('hex').toUpperCase()

/** A quoted strong ETag (RFC 9110). */
export const etagOf = (text: string): string => `"${contentHash(text)}"`
