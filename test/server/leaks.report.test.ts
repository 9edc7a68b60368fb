/** Tests how reports of leaks are read, and what remains of their URLs. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../../lib/engine/meta/types.ts'
import { generateAccessKey } from '../../lib/keys/credential/accesskey.ts'
import { possibleKeys } from '../../lib/server/leaks/findvalues.ts'
import { cleanUrl } from '../../lib/server/leaks/leakurl.ts'
import { readReport } from '../../lib/server/leaks/report.ts'
import { character } from '../support/characters.ts'
import cases from './vectors/leaks.report.cases.json' with { type: 'json' }

const key = generateAccessKey((size) => Buffer.alloc(size, 7))

describe('a report', () => {
  test('has credentials and a URL, or is what a detector of trufflehog sends', () => {
    expect(readReport({ credentials: ['a', 'b'], url: 'u' })).toEqual([
      { text: 'a', url: 'u' },
      { text: 'b', url: 'u' },
    ])
    expect(readReport({ credentials: [] })).toEqual([])
    expect(readReport({ keyplane: { key: ['a', 'group'] } })).toEqual([{ text: 'a' }, { text: 'group' }])
  })

  test.each(cases.refused as JsonValue[])('of another form is a 400: %j', (body) =>
    expect(() => readReport(body)).toThrow('the body must be {"credentials": ["…"], "url": "…"}'),
  )

  test('is looked up once for each text that has the form of a key', () => {
    const wrong = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`
    const supplied = 'a-key-that-somebody-has-brought-along'
    const texts = [key, key, wrong, 'short', supplied, `${supplied} `, 'x'.repeat(513), '', `${key}${key}`]
    expect(possibleKeys(texts)).toEqual([key, supplied])
  })
})

describe('the URL of a report', () => {
  test.each(cases.kept as [string, string][])('%s is kept as %s', (url, kept) => expect(cleanUrl(url, [])).toBe(kept))

  test.each([undefined, '', 'some_url', 'javascript:alert(1)', 'file:///etc/passwd', 'ftp://a.example/', 'https://'])(
    '%s is left out',
    (url) => expect(cleanUrl(url, [])).toBeUndefined(),
  )

  test('has at most 500 characters', () =>
    expect(cleanUrl(`https://a.example/${'b'.repeat(1_000_000)}`, [])).toHaveLength(500))

  // threat: leaks-10
  test('holds neither a credential nor a reported text, however it is written', () => {
    const supplied = 'a-key-that-somebody-has-brought-along'
    const percent = (text: string) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join('')
    for (const secret of [key, supplied]) {
      for (const written of [secret, percent(secret), percent(percent(secret)), secret.toUpperCase()]) {
        for (const url of [`https://a.example/x/${written}/y`, `https://a.example/x#${written}`])
          expect(cleanUrl(url, [supplied])).toBe('https://a.example')
        expect(cleanUrl(`https://${written}@a.example/x?y=${written}`, [supplied])).toBe('https://a.example/x')
      }
      expect(cleanUrl(`https://${secret}.example/`, [supplied])).toBeUndefined()
    }
  })

  test('is the origin if its path is encoded more often than is usual', () => {
    const encoded = (times: number) => `https://a.example/%${'25'.repeat(times - 1)}41`
    expect(cleanUrl(encoded(6), [])).toBe(encoded(6))
    expect(cleanUrl(encoded(200), [])).toBe('https://a.example')
  })

  test('is short, printable and never throws, whatever the text is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.webUrl({ withFragments: true }), fc.string({ unit: character })), (text) => {
        const kept = cleanUrl(text, []) ?? ''
        expect(kept).toMatch(/^(https?:\/\/[!-~]+)?$/)
        expect(kept.length).toBeLessThanOrEqual(500)
      }),
    )
  })
})
