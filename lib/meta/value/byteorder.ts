/** Text in the order of its UTF-8 bytes, which is how Go sorts: `<` of JavaScript differs where surrogates meet U+E000…U+FFFF. */

/** For `sort`: negative when `a` stands before `b`, 0 when they are the same text. */
export function byBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return rank(x) - rank(y)
  }
  return a.length - b.length
}

// A surrogate stands for a code point above all others.
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)
