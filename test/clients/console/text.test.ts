/** The words of the console: times, addresses of pages, texts of others, keys that people paste. */
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { givenKey } from '../../../clients/console/src/session/givenkey.ts'
import { hrefOf, routeOf } from '../../../clients/console/src/text/routes.ts'
import { exact, relative } from '../../../clients/console/src/text/times.ts'
import { visible } from '../../../clients/console/src/text/visible.ts'
import { generateAccessKey } from '../../../lib/authentication/accesskey.ts'

describe('relative', () => {
  const now = new Date('2026-11-22T12:00:00Z')
  test.each([
    ['2026-11-22T11:59:31Z', 'just now'],
    ['2026-11-22T12:00:30Z', 'in less than a minute'],
    ['2026-11-22T11:58:59Z', '1 minute ago'],
    ['2026-11-22T13:30:00Z', 'in 90 minutes'],
    ['2026-11-22T10:00:00Z', '2 hours ago'],
    ['2026-11-21T11:00:00Z', '25 hours ago'],
    ['2026-11-24T12:00:00Z', 'in 2 days'],
    ['2026-09-24T12:00:00Z', '59 days ago'],
    ['2026-09-23T12:00:00Z', '2 months ago'],
    ['2028-11-22T12:00:00Z', 'in 2 years'],
  ])('says of %s: %s', (time, words) => {
    expect(relative(new Date(time), now)).toBe(words)
  })
})

test('exact has the time in UTC, without needless milliseconds', () => {
  expect(exact(new Date('2026-11-22T12:00:05Z'))).toMatch(/22 Nov 2026.* \(2026-11-22T12:00:05Z\)$/)
})

describe('addresses of pages', () => {
  test('are read as they were written, whatever the names are', () => {
    const name = fc.string({ unit: 'binary', minLength: 1 }).filter((text) => text.isWellFormed())
    fc.assert(
      fc.property(fc.array(name, { maxLength: 3 }), fc.dictionary(name, name), (parts, query) => {
        const route = routeOf(hrefOf('keys', parts, query))
        expect([route.page, route.parts, Object.fromEntries(route.query)]).toEqual(['keys', parts, { ...query }])
      }),
    )
  })

  test.each(['', '#', '#/'])('lead from %j to the keys', (hash) => {
    expect(routeOf(hash)).toMatchObject({ page: 'keys', parts: [] })
  })

  test.each([`mpk_${'a'.repeat(49)}`, 'x eyJhbGciOiJub25lIn0.e30.'])('have no secret in their query: %s', (text) => {
    expect(hrefOf('may-it', [], { key: text, verb: 'get' })).toBe('#/may-it?verb=get')
  })

  test('with a part that is badly encoded keep it', () => {
    expect(routeOf('#/keys/%zz').parts).toEqual(['%zz'])
  })
})

describe('visible', () => {
  test.each([
    ['ci\u202Egpj.exe', 'ci\\u{202e}gpj.exe'],
    ['a\u200Bb\u0000', 'a\\u{200b}b\\u{0}'],
    ['two\nlines', 'two\\nlines'],
    ['Prüfung 🔑 試験', 'Prüfung 🔑 試験'],
    ['\uD800', '\\u{d800}'],
    ['admin\u3164\u2800\u{E0100}', 'admin\\u{3164}\\u{2800}\\u{e0100}'],
    ['❤\uFE0F\uFE0F, a\uFE0F', '❤\uFE0F\\u{fe0f}, a\\u{fe0f}'],
  ])('writes %j as %j', (text, shown) => {
    expect(visible(text)).toBe(shown)
  })
})

describe('givenKey', () => {
  const key = () => generateAccessKey((size) => randomBytes(size))

  test('finds the key in a kube config, a command or a line', () => {
    const one = key()
    expect(givenKey(one)).toBe(one)
    expect(givenKey(` ${one}\n`)).toBe(one)
    expect(givenKey(`users:\n- name: a\n  user:\n    token: "${one}"\n- name: b\n  user: {token: ${one}}\n`)).toBe(one)
    expect(givenKey(`curl -H "Authorization: Bearer ${one}" https://x`)).toBe(one)
  })

  test('takes a supplied key of any form, alone', () => {
    expect(givenKey(' my-own-secret-of-32-characters-xx ')).toBe('my-own-secret-of-32-characters-xx')
  })

  test.each([
    ['', 'nothing'],
    [' \n', 'blanks'],
    [`${key()} ${key()}`, 'two keys'],
    ['two words', 'a text'],
    ['my-own-secret\u200b', 'a character that no header can carry'],
  ])('finds none in %j (%s)', (text) => {
    expect(givenKey(text)).toBeUndefined()
  })
})
