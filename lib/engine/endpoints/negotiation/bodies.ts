/** Defines the sizes and the media types of request bodies, and checks them. Bodies are read only after authorization. */
import type { MediaType } from '../../meta/decoding/codecs.ts'
import { requestEntityTooLarge, type StatusError, unsupportedMediaType } from '../../meta/errors/status.ts'
import { own } from '../../meta/value/walk.ts'
import { mediaTypeOf } from './mediatype.ts'

/** The media types of objects. */
export const bodyTypes: Readonly<Record<string, MediaType>> = { 'application/json': 'json', 'application/yaml': 'yaml' }

/** The media types of patches. Like custom resources, this API does not support strategic merge patches. */
export const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/apply-patch+yaml',
] as const

/** kube-apiserver's limit, in bytes. */
export const maxBodyBytes = 3 * 1024 * 1024

/** Throws 413 for a body over the limit. */
export function checkBodySize(body: Uint8Array): void {
  if (body.byteLength > maxBodyBytes) throw requestEntityTooLarge(`limit is ${maxBodyBytes}`)
}

/** Returns the media type of a body; JSON without a Content-Type. Throws 415. */
export function bodyType(headers: Readonly<Record<string, string>>): MediaType {
  const { 'content-type': header = '' } = headers
  const type = mediaTypeOf(header)
  const found = header === '' ? 'json' : own(bodyTypes, type ?? '')
  if (!found) throw unsupported(Object.keys(bodyTypes), type, 'application/yaml')
  return found
}

/** Returns a 415. It advises users of `curl -d` without a Content-Type, which also joins the lines of a file. */
function unsupported(accepted: readonly string[], type: string | undefined, better: string): StatusError {
  if (type !== 'application/x-www-form-urlencoded') return unsupportedMediaType(accepted)
  const advice = `form data is not supported: to send a file with curl, use --data-binary @FILE -H 'Content-Type: ${better}'`
  return unsupportedMediaType(accepted, advice)
}

/**
 * Returns the media type of a patch without its parameters, one of `accepted`. Throws 415 in words that make kubectl list the
 * supported types.
 */
export function patchType<T extends string>(headers: Readonly<Record<string, string>>, accepted: readonly T[]): T {
  const type = headers['content-type']?.split(';', 1)[0]
  const found = accepted.find((one) => one === type)
  if (!found) throw unsupported(accepted, type, 'application/apply-patch+yaml')
  return found
}
