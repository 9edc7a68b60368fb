import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { redactor, withoutSecrets } from '../../../clients/cli/src/rotation/redact.ts'

const KEY = `mpk_${'aZ09'.repeat(12)}x`
const OTHER = `a+/?&<>"\\%'~${'b'.repeat(30)}`

/** Returns what is written when the chunks arrive one by one. */
function redacted(secrets: string[], chunks: Buffer[]): string {
  let written = ''
  const one = redactor(secrets, (text) => {
    written += text
  })
  for (const chunk of chunks) one.push(chunk)
  one.end()
  return written
}

const whole = (text: string) => redacted([KEY, OTHER], [Buffer.from(text)])

/** Returns the longest part of `text` that `within` contains, at least of this length. */
const sharedPart = (text: string, within: string, length: number) =>
  Array.from({ length: text.length - length + 1 }, (_, at) => text.slice(at, at + length)).find((part) =>
    within.includes(part),
  )

describe('the output of a program', () => {
  test.each([KEY, OTHER])('has no %s, whatever its form', (secret) => {
    for (const form of [
      secret,
      JSON.stringify(secret).slice(1, -1),
      JSON.stringify(secret)
        .slice(1, -1)
        .replace(/[<>&]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`),
      encodeURIComponent(secret),
      encodeURIComponent(secret).replace(/%../g, (one) => one.toLowerCase()),
      String(new URLSearchParams({ a: secret })).slice(2),
    ]) {
      expect(whole(`before ${form} after`)).toBe('before <redacted> after')
    }
  })

  // threat: rotation-7
  test.each(['base64', 'base64url'] as const)('has no %s of a secret, at any place of what is encoded', (encoding) => {
    const encode = (before: string, secret: string) => Buffer.from(`${before}${secret}more`).toString(encoding)
    for (const secret of [KEY, OTHER]) {
      for (const before of ['', 'a', 'ab', 'abc', 'user:', '{"key":"']) {
        const encoded = encode(before, secret)
        const text = whole(`Basic ${encoded} after`)
        expect(text).toMatch(/^Basic [\w+/-]{0,12}<redacted>[\w+/=-]{1,8} after$/)
        // What is left has no more than the bits that a secret shares with its neighbours.
        expect(sharedPart(encoded, text.replace(/^Basic [\w+/-]{0,12}/, ''), 9)).toBeUndefined()
      }
    }
  })

  test('has no base64 in lines of 76 characters', () => {
    const encoded = Buffer.from(`some user of some length:${KEY}`).toString('base64')
    const lines = encoded.replace(/(.{76})/, '$1\n')
    expect(whole(lines)).not.toContain(encoded.slice(60, 76))
    expect(whole(lines)).toContain('<redacted>')
  })

  // threat: rotation-7
  test('is the same, wherever its chunks end', () => {
    const text = Buffer.from(`é ${KEY}, ${Buffer.from(`x${OTHER}`).toString('base64')}\nmpk_ ${OTHER}${KEY}é`)
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 8 }), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), text.length]
        const chunks = at.slice(1).map((end, index) => text.subarray(at[index], end))
        expect(redacted([KEY, OTHER], chunks)).toBe(whole(text.toString()))
      }),
    )
  })

  test('waits only where a secret may begin', () => {
    const written: string[] = []
    const one = redactor([KEY], (text) => written.push(text))
    one.push(Buffer.from('Password: '))
    one.push(Buffer.from('line\nmpk_aZ'))
    expect(written).toEqual(['Password: ', 'line\n'])
  })
})

test('an environment loses the variables with a secret in any form, and the key of this program in any case', () => {
  const env = {
    PATH: '/bin',
    KEYPLANE_KEY: 'anything',
    Keyplane_Key: 'anything',
    KEYPLANE_URL: 'https://keys.example.com',
    TF_VAR_key: KEY,
    HEADER: `Basic ${Buffer.from(`u:${KEY}`).toString('base64')}`,
    JSON: JSON.stringify({ key: OTHER }),
    ABSENT: undefined,
  }
  expect(withoutSecrets(env, [KEY, OTHER])).toEqual({ PATH: '/bin', KEYPLANE_URL: 'https://keys.example.com' })
})
