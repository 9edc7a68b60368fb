/** Tests the count of minutes in which a key was used. */
import { expect, test } from 'vitest'
import { countMinute, readActiveDays } from '../../../../lib/authentication/usage/activeminutes.ts'

const at = (text: string) => Date.parse(text) / 1000
const uid = 'u-1'

test('each minute of a day counts once, and the first use of the next day writes the day', () => {
  let active = countMinute({ uid }, at('2026-11-26T10:00:10Z')).active
  let lastActivity = at('2026-11-26T10:00:10Z')
  for (const time of ['2026-11-26T10:00:40Z', '2026-11-26T10:01:41Z', '2026-11-26T23:59:59Z']) {
    active = countMinute({ uid, active, lastActivity }, at(time)).active
    lastActivity = at(time)
  }
  expect(active).toEqual({ day: '2026-11-26', minutes: 3 })
  const next = countMinute({ uid, active, lastActivity, value: 2 }, at('2026-11-28T00:00:00Z'))
  expect(next.active).toEqual({ day: '2026-11-28', minutes: 1 })
  expect(next.ended).toEqual([
    {
      pk: 'usage#u-1',
      sk: 'active#2026-11-26#2',
      attributes: { minutes: 3, expires: at('2026-11-26T00:00:00Z') + 90 * 86_400 },
    },
  ])
})

test('the days of all values are read together, and other items count as nothing', () => {
  const items = [
    { sk: 'active#2026-11-26#1', attributes: { minutes: 3 } },
    { sk: 'active#2026-11-26#2', attributes: { minutes: 1439 } },
    { sk: 'active#2026-11-25#1', attributes: { minutes: 'many' } },
    { sk: 'others', attributes: { minutes: 7 } },
  ]
  expect(readActiveDays(items, { day: '2026-11-27', minutes: 2 })).toEqual([
    { day: '2026-11-26', minutes: 1440 },
    { day: '2026-11-27', minutes: 2 },
  ])
})
