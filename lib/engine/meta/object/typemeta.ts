/** Decodes apiVersion and kind, which Go reads before the rest of an object. Source: k8s.io/apimachinery/pkg/runtime/serializer/json/meta.go. */
import { decodeGoStruct, GoDecodeError, type GoStruct } from '../encoding/gostruct.ts'
import type { JsonValue } from '../types.ts'

const typeMeta: GoStruct = {
  kind: 'struct',
  type: 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
  name: '',
  fields: { apiVersion: { kind: 'string', type: 'string' }, kind: { kind: 'string', type: 'string' } },
}

/** Returns '' for an absent member, and for both if the value is null. Throws GoDecodeError. */
export function decodeTypeMeta(value: JsonValue): { apiVersion: string; kind: string } {
  try {
    const { apiVersion = '', kind = '' } = decodeGoStruct(value, typeMeta).value
    return { apiVersion: String(apiVersion), kind: String(kind) }
  } catch (error) {
    if (!(error instanceof GoDecodeError)) throw error
    throw new GoDecodeError(`couldn't get version/kind; json parse error: ${error.message}`)
  }
}
