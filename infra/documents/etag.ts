/** Computes the hash by which clients recognize a cached document. */
import { createHash } from 'node:crypto'

/** Returns the SHA-512 hash in upper-case hex, which kube-apiserver uses in ETags and in the OpenAPI index. */
export const contentHash = (text: string): string => createHash('sha512').update(text).digest('hex').toUpperCase()

/** Returns a quoted strong ETag (RFC 9110). */
export const etagOf = (text: string): string => `"${contentHash(text)}"`
