/**
 * Parses the resourceVersions that clients send: a uint64 in decimal digits, with any number of leading zeros.
 * Source: k8s.io/apiserver/pkg/storage (APIObjectVersioner).
 */

import { quote } from '../encoding/gotext.ts'
import { parseUnsigned } from '../encoding/strconv.ts'
import { badRequest } from '../errors/status.ts'

/** Returns 0 for an empty text. Throws `failure` of Go's message, by default a 400 (kube-apiserver returns 500 with it). */
export function parseResourceVersion(text: string, failure: (why: string) => Error = badRequest): bigint {
  const version = text === '' ? 0n : parseUnsigned(text)
  if (typeof version === 'string') throw failure(`strconv.ParseUint: parsing ${quote(text)}: ${version}`)
  return version
}

/** Parses a resourceVersion like `parseResourceVersion`, but returns 0 for an invalid text. */
export function resourceVersionOrNone(text: string): bigint {
  const version = parseUnsigned(text)
  return typeof version === 'string' ? 0n : version
}
