/** What an object says it is, as Go reads it before all else. Source: k8s.io/apimachinery/pkg/runtime/serializer/json/meta.go. */
import { decodeGoStruct, GoDecodeError, type GoStruct } from '../encoding/gostruct.ts'
import type { JsonValue } from '../types.ts'

const typeMeta: GoStruct = {
  kind: 'struct',
  type: 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
  name: '',
  fields: { apiVersion: { kind: 'string', type: 'string' }, kind: { kind: 'string', type: 'string' } },
}

/** '' for what is absent; of null both. Throws GoDecodeError. */
export function decodeTypeMeta(value: JsonValue): { apiVersion: string; kind: string } {
  try {
    const { apiVersion = '', kind = '' } = decodeGoStruct(value, typeMeta).value
    return { apiVersion: String(apiVersion), kind: String(kind) }
  } catch (error) {
    if (!(error instanceof GoDecodeError)) throw error
    throw new GoDecodeError(`couldn't get version/kind; json parse error: ${error.message}`)
  }
}
