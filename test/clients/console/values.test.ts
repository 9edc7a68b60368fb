/** Tests to whom a value is shown that the server returns only once. */
import { describe, expect, test } from 'vitest'
import {
  missedWords,
  noValues,
  personOf,
  type Revealed,
  shownValue,
  type Values,
  withoutShown,
  withPerson,
  withValue,
} from '../../../clients/console/src/session/values.ts'

const value = (name: string): Revealed => ({
  title: `The value of ${name}`,
  name,
  value: `value-${name}`,
  explanation: '',
})
const ofAlice = withPerson(noValues, 'alice')
const shown = (values: Values) => shownValue(values)?.name

describe('a value', () => {
  test('is shown to its person, the oldest first, each by itself', () => {
    const two = withValue(withValue(ofAlice, 'alice', value('a')), 'alice', value('b'))
    expect([shown(two), shown(withoutShown(two)), shown(withoutShown(withoutShown(two)))]).toEqual([
      'a',
      'b',
      undefined,
    ])
  })

  test('waits between the sessions of its person, and is shown to nobody meanwhile', () => {
    const between = withPerson(withValue(ofAlice, 'alice', value('a')), undefined)
    expect([shown(between), shown(withPerson(between, 'alice'))]).toEqual([undefined, 'a'])
  })

  test('goes when somebody else signs in', () => {
    const others = withPerson(withValue(ofAlice, 'alice', value('a')), 'bob')
    expect([others.waiting, shown(withPerson(others, 'alice'))]).toEqual([[], undefined])
  })

  test('that comes after its session is not kept, and only its person is told', () => {
    for (const now of [undefined, 'bob']) {
      const late = withValue(withPerson(ofAlice, now), 'alice', value('a'))
      expect([late.waiting, missedWords(late), JSON.stringify(late).includes('value-a')]).toEqual([
        [],
        undefined,
        false,
      ])
      const back = withPerson(late, 'alice')
      expect(missedWords(back)).toMatch(/^The value of a: made after you signed out/)
      expect(missedWords(withPerson(withPerson(back, undefined), 'alice'))).toBeUndefined()
      expect(missedWords(withPerson(withPerson(late, 'carol'), 'alice'))).toBeDefined()
    }
  })
})

test('two keys of one person are of one person, and a key without one is itself', () => {
  expect(personOf({ subject: 'user:alice', accessKey: 'a' })).toBe(personOf({ subject: 'user:alice', accessKey: 'b' }))
  expect(personOf({ accessKey: 'a' })).not.toBe(personOf({ accessKey: 'b' }))
})
