/** Request bodies: their size and their media types. Bodies are read only after authorization. */
import type { MediaType } from '../../meta/decoding/codecs.ts'
import { requestEntityTooLarge, type StatusError, unsupportedMediaType } from '../../meta/errors/status.ts'
import { mediaTypeOf } from './mediatype.ts'
import { bodyTypes, type PatchType, patchTypes } from './mediatypes.ts'

/** kube-apiserver's limit for bodies, in bytes. */
export const maxBodyBytes = 3 * 1024 * 1024

/** Throws 413. */
export function checkSize(body: Uint8Array): void {
  if (body.byteLength > maxBodyBytes) throw requestEntityTooLarge(`limit is ${maxBodyBytes}`)
}

/** A body without a type is JSON. Throws 415. */
export function bodyType(headers: Readonly<Record<string, string>>): MediaType {
  const { 'content-type': header = '' } = headers
  const type = mediaTypeOf(header)
  const found = header === '' ? 'json' : type && Object.hasOwn(bodyTypes, type) ? bodyTypes[type] : undefined
  if (!found) throw unsupported(Object.keys(bodyTypes), type, 'application/yaml')
  return found
}

/** 415. What curl sends of `-d` without a type is told what to send instead: it also joins the lines of a file. */
function unsupported(accepted: readonly string[], type: string | undefined, better: string): StatusError {
  if (type !== 'application/x-www-form-urlencoded') return unsupportedMediaType(accepted)
  const advice = `a form cannot be read: with curl, send a file with --data-binary @FILE -H 'Content-Type: ${better}'`
  return unsupportedMediaType(accepted, advice)
}

/** The exact type, parameters aside. Throws 415 in the words that make kubectl name the types to use. */
export function patchType(headers: Readonly<Record<string, string>>): PatchType {
  const type = headers['content-type']?.split(';', 1)[0]
  const found = patchTypes.find((one) => one === type)
  if (!found) throw unsupported(patchTypes, type, 'application/apply-patch+yaml')
  return found
}
