import { createHash } from 'node:crypto'

/** Returns the SHA-512 hash in upper-case hex, which kube-apiserver uses in ETags and in the OpenAPI index. */
export const contentHash = (text: string): string => createHash('sha512').update(text).digest('hex').toUpperCase()
