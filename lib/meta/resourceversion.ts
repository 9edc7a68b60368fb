/** resourceVersions in bodies: decimal uint64 text. Source: k8s.io/apiserver/pkg/storage (APIObjectVersioner). */
import { badRequest } from './errors.ts'
import { quoted } from './gotext.ts'

const MAX_UINT64 = 2n ** 64n - 1n

/** 0 of an empty text. Throws 400 in Go's words (kube-apiserver answers 500 with the same). */
export function parseResourceVersion(text: string): bigint {
  if (text === '') return 0n
  const why = !/^\d+$/.test(text) ? 'invalid syntax' : BigInt(text) > MAX_UINT64 ? 'value out of range' : undefined
  if (why) throw badRequest(`strconv.ParseUint: parsing ${quoted(text)}: ${why}`)
  return BigInt(text)
}
