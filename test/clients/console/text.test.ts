/** The words of the console: times, addresses of pages, texts of others, keys that people paste. */
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { givenKey } from '../../../clients/console/src/session/givenkey.ts'
import { hrefOf, routeOf } from '../../../clients/console/src/text/routes.ts'
import { exact, relative, stamp } from '../../../clients/console/src/text/times.ts'
import { visible } from '../../../clients/console/src/text/visible.ts'
import { generateAccessKey } from '../../../lib/keys/credential/accesskey.ts'
import { character } from '../../support/characters.ts'
import cases from './vectors/text.cases.json' with { type: 'json' }

describe('relative', () => {
  const now = new Date('2026-11-22T12:00:00Z')
  test.each([
    ['2026-11-22T11:59:31Z', 'past', 'just now'],
    ['2026-11-22T12:00:30Z', 'past', 'just now'],
    ['2026-11-22T14:00:00Z', 'past', 'just now'],
    ['2026-11-22T11:58:59Z', 'past', '1 minute ago'],
    ['2026-11-22T10:00:01Z', 'past', '2 hours ago'],
    ['2026-11-21T11:00:00Z', 'past', '25 hours ago'],
    ['2026-09-24T12:00:00Z', 'past', '59 days ago'],
    ['2026-09-23T12:00:00Z', 'past', '2 months ago'],
    ['2025-11-22T12:00:00Z', 'past', '12 months ago'],
    ['2026-11-22T12:00:30Z', 'future', 'in less than a minute'],
    ['2026-11-22T13:29:40Z', 'future', 'in 90 minutes'],
    ['2026-11-24T12:00:00Z', 'future', 'in 2 days'],
    ['2026-12-22T11:59:30Z', 'future', 'in 30 days'],
    ['2028-11-22T12:00:00Z', 'future', 'in 2 years'],
    ['2026-11-22T11:59:31Z', 'future', 'just now'],
    ['2026-11-20T12:00:00Z', 'future', '2 days ago'],
  ] as const)('says of %s in the %s: %s', (time, direction, words) => {
    expect(relative(new Date(time), now, direction)).toBe(words)
  })
})

test('stamp is the time of today, or the date of another day', () => {
  const at = (time: string) =>
    stamp(new Date(2026, 10, 22, ...(time.split(':').map(Number) as [number, number])), new Date(2026, 10, 22, 12))
  expect([at('9:05'), at('33:05')]).toEqual(['09:05', '23 Nov 2026'])
})

test.each(['UTC', 'Asia/Kolkata', 'America/St_Johns', 'Pacific/Kiritimati'])(
  'exact is the time in %s, and in UTC',
  (zone) => {
    const { TZ } = process.env
    onTestFinished(() => {
      process.env.TZ = TZ ?? ''
    })
    process.env.TZ = zone
    const format = new Intl.DateTimeFormat('en-GB', {
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'short',
    })
    // Another version of Intl writes Sept.
    const days = fc
      .date({ min: new Date('2000-01-01'), max: new Date('2999-01-01'), noInvalidDate: true })
      .filter((time) => time.getMonth() !== 8)
    fc.assert(
      fc.property(days, (time) => {
        time.setMilliseconds(0)
        expect(exact(time)).toBe(`${format.format(time)} (${time.toISOString().replace('.000', '')})`)
      }),
    )
  },
)

describe('addresses of pages', () => {
  test('are read as they were written, whatever the names are', () => {
    const name = fc.string({ unit: character, minLength: 1 }).filter((text) => text.isWellFormed())
    fc.assert(
      fc.property(fc.array(name, { maxLength: 3 }), fc.dictionary(name, name), (parts, query) => {
        const route = routeOf(hrefOf('keys', parts, query))
        expect([route.page, route.parts, Object.fromEntries(route.query)]).toEqual(['keys', parts, { ...query }])
      }),
    )
  })

  test.each(['', '#', '#/'])('lead from %j to the overview', (hash) => {
    expect(routeOf(hash)).toMatchObject({ page: 'overview', parts: [] })
  })

  test.each([`mpk_${'a'.repeat(49)}`, 'x eyJhbGciOiJub25lIn0.e30.'])('have no secret in their query: %s', (text) => {
    expect(hrefOf('may-it', [], { key: text, verb: 'get' })).toBe('#/may-it?verb=get')
  })

  test('with a part that is badly encoded keep it', () => expect(routeOf('#/keys/%zz').parts).toEqual(['%zz']))
})

describe('visible', () => {
  test.each(cases.written as [string, string][])('writes %j as %j', (text, shown) => expect(visible(text)).toBe(shown))
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

  test('takes a supplied key of any form, alone', () =>
    expect(givenKey(' my-own-secret-of-32-characters-xx ')).toBe('my-own-secret-of-32-characters-xx'))

  test.each([
    ['', 'nothing'],
    [' \n', 'blanks'],
    [`${key()} ${key()}`, 'two keys'],
    ['two words', 'a text'],
    ['my-own-secret\u200b', 'a character that no header can carry'],
  ])('finds none in %j (%s)', (text) => expect(givenKey(text)).toBeUndefined())
})
