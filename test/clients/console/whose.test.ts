/** What the page "Whose key is this?" says of a value. */
import { expect, test } from 'vitest'
import { phaseWords } from '../../../clients/console/src/pages/whose/phasewords.ts'

test.each([
  ['Active', 'Active: the value works'],
  ['Disabled', 'Disabled: the value does not work'],
  ['Ended', 'The key does not have this value any more'],
  ['Of another release', 'Of another release'],
  [undefined, 'unknown'],
])('a phase %s is %j', (phase, words) => expect(phaseWords(phase)).toBe(words))
