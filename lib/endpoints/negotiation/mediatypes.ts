/** Lists the media types that request bodies may have, for requests and for the OpenAPI documents. */
import type { MediaType } from '../../meta/decoding/codecs.ts'

/** The media types of objects. */
export const bodyTypes: Readonly<Record<string, MediaType>> = { 'application/json': 'json', 'application/yaml': 'yaml' }

/** The parameters of a media type that ask for an ExecCredential. */
export const EXEC_CREDENTIAL_PARAMETERS = 'as=ExecCredential;g=client.authentication.k8s.io;v=v1'

/** The media types of patches. Like custom resources, this API does not support strategic merge patches. */
export const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/apply-patch+yaml',
] as const

export type PatchType = (typeof patchTypes)[number]
