import { describe, expect, it } from 'vitest'
import { defaultFieldManager, validateFieldManager } from '../../../../../lib/engine/meta/object/managername.ts'

describe('a field manager name', () => {
  it.each(['', 'kubectl', 'a b', 'é', '😀', 'x'.repeat(128), 'é'.repeat(64)])('may be %j', (name) =>
    expect(validateFieldManager(name)).toEqual([]),
  )

  it.each([`${'é'.repeat(64)}x`, 'x'.repeat(129)])('may not exceed 128 bytes: %j', (name) =>
    expect(validateFieldManager(name)).toEqual([
      { type: 'FieldValueTooLong', field: 'fieldManager', message: 'Too long: may not be more than 128 bytes' },
    ]),
  )

  it('may not contain control characters, which are reported with their byte position', () =>
    expect(validateFieldManager('é!\u0007\u00a0').map(({ message }) => message.replace(/^.*": /, ''))).toEqual([
      'invalid character U+0007 (at position 3)',
      'invalid character U+00A0 (at position 4)',
    ]))
})

describe('the default field manager name', () => {
  it.each([
    ['kubectl/v1.32.4 (linux/amd64)', 'kubectl'],
    ['curl', 'curl'],
    ['', ''],
    ['/x', ''],
    ['a\u0007b é/1', 'ab é'],
    ['é'.repeat(65), 'é'.repeat(64)],
    [`${'x'.repeat(127)}é`, 'x'.repeat(127)],
    // The server shows each byte of UTF-8 as a character.
    ['J\u00c3\u00bcrgen/1', 'J\u00fcrgen'],
    ['\u00c3\u00a9'.repeat(65), 'é'.repeat(64)],
  ])('of User-Agent %j is %j', (userAgent, name) => expect(defaultFieldManager(userAgent)).toBe(name))
})
