/** Writes JSON values as protobuf messages, as descriptions of their members say. Source: protobuf.dev "Encoding". */
import { stringify } from '../meta/encoding/json.ts'
import type { JsonObject, JsonValue } from '../meta/types.ts'

/** Returns a value as the field of this number; a repeated field is several, one after another. */
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

function delimited(number: number, parts: readonly Uint8Array[]): Uint8Array[] {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  return [tag(number, BYTES), varint(length), ...parts]
}

export const text: Field = (number, value) => delimited(number, [Buffer.from(String(value))])

/** A boolean or an integer. */
export const whole: Field = (number, value) => [tag(number, VARINT), varint(Number(value))]

export const double: Field = (number, value) => {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(Number(value))
  return [tag(number, FIXED64), bytes]
}

/** A repeated field. */
export const many =
  (field: Field): Field =>
  (number, values) =>
    (values as JsonValue[]).flatMap((value) => field(number, value))

/** A message whose only field, of this number, is the value. */
export const within =
  (inner: number, field: Field): Field =>
  (number, value) =>
    delimited(number, field(inner, value))

/** An object as repeated messages of a name and a value. */
export const named =
  (field: Field): Field =>
  (number, members) =>
    Object.entries(members as JsonObject).flatMap(([name, value]) =>
      delimited(number, [...text(1, name), ...field(2, value)]),
    )

/** A value of any shape: its JSON, which is YAML. */
export const any: Field = (number, value) => delimited(number, text(2, stringify(value)))

export type Members = Readonly<Record<string, readonly [number: number, field: Field]>>

/**
 * A message with these members; others that begin with `x-` go to the repeated field `extensions`. Throws for any other
 * member: nothing is left out unnoticed.
 */
export function message(members: () => Members, extensions?: number): Field {
  return (number, value) =>
    delimited(
      number,
      Object.entries(value as JsonObject).flatMap(([name, member]) => {
        if (extensions !== undefined && name.startsWith('x-')) return named(any)(extensions, { [name]: member })
        const [at, field] = members()[name] ?? []
        if (at === undefined || field === undefined) throw new Error(`no field of the message is called ${name}`)
        return field(at, member)
      }),
    )
}

/** The content of a message, without the field that it would be. */
export function encoded(field: Field, value: JsonValue): Uint8Array {
  const [, , ...content] = field(1, value)
  return Buffer.concat(content)
}
