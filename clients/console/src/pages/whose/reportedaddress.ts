/** Judges the address of a report, which the owner of the key sees. */
import { hasSecret } from '../../text/secrets.ts'

/** Text that is percent-encoded more often counts as a secret. */
const MAX_LAYERS = 8

/** Reports whether an address holds a secret or this value, in any case and however often it is percent-encoded. */
export function addressHolds(address: string, value: string): boolean {
  let text = address
  for (let layers = 0; layers <= MAX_LAYERS; layers++) {
    if (hasSecret(text) || (value !== '' && text.toLowerCase().includes(value.toLowerCase()))) return true
    const next = decoded(text)
    if (next === text) return false
    text = next
  }
  return true
}

/** Returns the text with one layer of percent-encoding less. */
const decoded = (text: string): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) =>
    new TextDecoder().decode(Uint8Array.from(bytes.slice(1).split('%'), (byte) => Number.parseInt(byte, 16))),
  )
