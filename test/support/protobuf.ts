/** Encodes messages as compiled Kubernetes clients do. Source: protobuf.dev encoding; k8s.io/apimachinery serializer/protobuf. */

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)]
}

/** Encodes a length-delimited field: text or a message. */
export function field(number: number, value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value as string)
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes])
}

export const message = (...fields: Uint8Array[]): Buffer => Buffer.concat(fields)

/** Wraps an object in the Kubernetes envelope. */
export const envelope = (apiVersion: string, kind: string, raw: Uint8Array): Buffer =>
  message(Buffer.from('k8s\0'), field(1, message(field(1, apiVersion), field(2, kind))), field(2, raw))
