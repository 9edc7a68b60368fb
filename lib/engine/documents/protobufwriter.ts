/** Writes JSON values as protobuf messages according to descriptions of their members. Source: protobuf.dev "Encoding". */
import { stringify } from '../meta/encoding/json.ts'
import type { JsonObject, JsonValue } from '../meta/types.ts'

/** Writes a value as the field with this number. A repeated field is written once for each element. */
export type Field = (number: number, value: JsonValue) => Uint8Array[]

function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  return Uint8Array.from([...bytes, Number(rest)])
}

const VARINT = 0
const FIXED64 = 1
const BYTES = 2

const tag = (number: number, wire: number): Uint8Array => varint(number * 8 + wire)

function delimitedField(number: number, parts: readonly Uint8Array[]): Uint8Array[] {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  return [tag(number, BYTES), varint(length), ...parts]
}

export const textField: Field = (number, value) => delimitedField(number, [Buffer.from(String(value))])

/** Writes a boolean or an integer. */
export const varintField: Field = (number, value) => [tag(number, VARINT), varint(Number(value))]

export const doubleField: Field = (number, value) => {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(Number(value))
  return [tag(number, FIXED64), bytes]
}

/** Writes a repeated field. */
export const repeatedField =
  (field: Field): Field =>
  (number, values) =>
    (values as JsonValue[]).flatMap((value) => field(number, value))

/** Writes a message whose only field, with this number, is the value. */
export const wrapperField =
  (inner: number, field: Field): Field =>
  (number, value) =>
    delimitedField(number, field(inner, value))

/** Writes an object as repeated messages of a name and a value. */
export const namedField =
  (field: Field): Field =>
  (number, members) =>
    Object.entries(members as JsonObject).flatMap(([name, value]) =>
      delimitedField(number, [...textField(1, name), ...field(2, value)]),
    )

/** Writes a value of any type as JSON, where the message expects YAML. */
export const anyField: Field = (number, value) => delimitedField(number, textField(2, stringify(value)))

type MessageFields = Readonly<Record<string, readonly [number: number, field: Field]>>

/**
 * Writes a message with these members. Other members that begin with `x-` go to the repeated field `extensions`. Throws for
 * any other member, so that no member is dropped silently.
 */
export function messageField(members: () => MessageFields, extensions?: number): Field {
  return (number, value) =>
    delimitedField(
      number,
      Object.entries(value as JsonObject).flatMap(([name, member]) => {
        if (extensions !== undefined && name.startsWith('x-'))
          return namedField(anyField)(extensions, { [name]: member })
        const [at, field] = members()[name] ?? []
        if (at === undefined || field === undefined) throw new Error(`no field of the message is called ${name}`)
        return field(at, member)
      }),
    )
}

/** Returns the content of a message, without the tag and length of a field. */
export function encodeMessage(field: Field, value: JsonValue): Uint8Array {
  const [, , ...content] = field(1, value)
  return Buffer.concat(content)
}
