/** Reads values in DER (ITU-T X.690), as far as keys and certificates need it: short tags and definite lengths. */

export interface DerValue {
  tag: number
  content: Buffer
}

/** Returns the values that the bytes consist of, one after the other, or undefined if they are not DER. */
export function derValues(bytes: Buffer): DerValue[] | undefined {
  const values: DerValue[] = []
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at] ?? 0
    const first = bytes[at + 1] ?? 0x80
    const size = first < 0x80 ? 0 : first - 0x80
    if ((tag & 0x1f) === 0x1f || first === 0x80 || size > 4 || at + 2 + size > bytes.length) return undefined
    const length = size === 0 ? first : bytes.readUIntBE(at + 2, size)
    const from = at + 2 + size
    if (from + length > bytes.length) return undefined
    values.push({ tag, content: bytes.subarray(from, from + length) })
    at = from + length
  }
  return values
}

const SEQUENCE = 0x30

/** Returns the values in the sequence that the bytes are, or undefined if they are none. */
export function derSequence(bytes: Buffer): DerValue[] | undefined {
  const [one, ...others] = derValues(bytes) ?? []
  return one?.tag === SEQUENCE && others.length === 0 ? derValues(one.content) : undefined
}
