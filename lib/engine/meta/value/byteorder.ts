/** Compares strings by their UTF-8 bytes, as Go does. JavaScript's `<` differs between surrogates and U+E000…U+FFFF. */

/** Returns a negative number if `a` sorts before `b`, and 0 if they are equal. */
export function byBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return rank(x) - rank(y)
  }
  return a.length - b.length
}

// Surrogates encode the code points above U+FFFF, so they sort last.
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)
