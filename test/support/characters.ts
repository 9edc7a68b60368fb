/** Any characters of Unicode, for random texts. */
import fc from 'fast-check'

/** The code points of surrogates, which are no characters. */
const [firstSurrogate, surrogates] = [0xd800, 0x800]

/**
 * Any code point but surrogates. The unit `binary` of fast-check has the same ones, but each process that uses it makes a table of all
 * of them, which takes most of a second.
 */
export const character = fc.integer({ min: 0, max: 0x10ffff - surrogates }).map(
  (index) => String.fromCodePoint(index < firstSurrogate ? index : index + surrogates),
  (text) => {
    const point = typeof text === 'string' ? text.codePointAt(0) : undefined
    if (point === undefined || String.fromCodePoint(point) !== text || !text.isWellFormed()) {
      throw new TypeError('not one character')
    }
    return point < firstSurrogate ? point : point - surrogates
  },
)
