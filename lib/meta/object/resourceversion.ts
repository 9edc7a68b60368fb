/**
 * resourceVersions as clients send them: decimal text of a uint64, whatever zeros it begins with.
 * Source: k8s.io/apiserver/pkg/storage (APIObjectVersioner).
 */

import { uint64 } from '../encoding/gointegers.ts'
import { quoted } from '../encoding/gotext.ts'
import { badRequest } from '../errors/status.ts'

/** 0 of an empty text. Throws what `failure` makes of Go's words: 400 (kube-apiserver answers 500 with the same). */
export function parseResourceVersion(text: string, failure: (why: string) => Error = badRequest): bigint {
  const version = text === '' ? 0n : uint64(text)
  if (typeof version === 'string') throw failure(`strconv.ParseUint: parsing ${quoted(text)}: ${version}`)
  return version
}

/** The same, and 0 of a text that is none. */
export function resourceVersionOrNone(text: string): bigint {
  const version = uint64(text)
  return typeof version === 'string' ? 0n : version
}
