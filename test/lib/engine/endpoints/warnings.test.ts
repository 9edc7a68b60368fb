/** Tests Warning headers. Source: filters/warning.go of k8s.io/apiserver, answers of kube-apiserver 1.34.4. */
import { expect, it } from 'vitest'
import { warningHeaders } from '../../../../lib/engine/endpoints/warnings.ts'

const header = (text: string): string => `299 - "${text}"`

it('quotes each text once and in ASCII', () =>
  expect(warningHeaders(['a "b" \\', 'ü\u00ad\u{1f600}', 'a "b" \\', ''])).toEqual([
    header(String.raw`a \"b\" \\`),
    header(String.raw`\\u00fc\\u00ad\\ud83d\\ude00`),
  ]))

it.each(['\u0000', '\u0001', '\n', '\t', '\u007f', '\u0080', '\u009f'])('does not send a text with %j', (control) =>
  expect(warningHeaders([`a${control}b`, 'plain'])).toEqual([header('plain')]),
)

it('truncates each text when all are too long, and then sends those that have become valid', () => {
  const long = (mark: string) => mark + 'x'.repeat(300)
  const many = Array.from({ length: 20 }, (_, index) => long(String.fromCharCode(97 + index)))
  expect(warningHeaders(many.slice(0, 13))).toEqual(many.slice(0, 13).map(header))
  expect(warningHeaders([...many.slice(0, 14), `${long('z')}\n`])).toEqual([
    ...many.slice(0, 14).map((text) => header(text.slice(0, 256))),
    header(long('z').slice(0, 256)),
  ])
  expect(warningHeaders(many)).toHaveLength(16)
  // 4096 characters are the most that are sent whole.
  const whole = ['x'.repeat(300), 'y'.repeat(3796)]
  expect(warningHeaders(whole)).toEqual(whole.map(header))
})

it('counts characters, not UTF-16 code units', () =>
  expect(warningHeaders(['\u{1f600}'.repeat(400)])).toEqual([header(String.raw`\\ud83d\\ude00`.repeat(400))]))

it('stops before the gateway would reject the answer', () => {
  const texts = Array.from({ length: 12 }, (_, index) => `${index}${'ü'.repeat(300)}`)
  const bytes = warningHeaders(texts).reduce((sum, text) => sum + text.length, 0)
  expect(bytes).toBeGreaterThan(4096)
  expect(bytes).toBeLessThan(8192)
})
