/** What the page "Whose key is this?" says of a value. */
import { expect, test } from 'vitest'
import { phaseWords, reportWords } from '../../../clients/console/src/pages/whose/phasewords.ts'

test.each([
  ['Active', 'Active: the value works'],
  ['Disabled', 'Disabled: the value does not work'],
  ['Unused', 'Unused: the value does not work'],
  ['Ended', 'The key does not have this value any more'],
  ['Of another release', 'Of another release'],
  [undefined, 'unknown'],
])('a phase %s is %j', (phase, words) => expect(phaseWords(phase)).toBe(words))

const before = { name: 'ci', uid: 'u', phase: 'Active' } as const

test.each([
  [{}, {}, true, 'If it was a valid value'],
  [before, undefined, true, 'If it was a valid value'],
  [before, {}, true, 'Its key is deleted.'],
  [before, { ...before, uid: 'other' }, true, 'Its key is deleted.'],
  [before, { ...before, phase: 'Ended' }, true, 'The value has ended, and never works again.'],
  [before, before, false, 'has ended nothing. Active: the value works.'],
] as const)('after a report of %j, %j says that it has ended: %j', (found, after, isEnded, words) => {
  const { text, ...rest } = reportWords(found, after)
  expect([rest, text]).toEqual([{ isEnded }, expect.stringContaining(words)])
})
