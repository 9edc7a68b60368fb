/** The schema of whole objects, as the field manager walks them. */
import { expect, test } from 'vitest'
import { object, string } from '../../../../lib/meta/schema/schema.ts'
import { wholeObject } from '../../../../lib/meta/structuredmerge/typed.ts'

const kind = () => ({ spec: object('', { text: string('') }), status: object('', { seen: string('') }) })

test('the whole object of a kind is made once, and each kind has its own', () => {
  const one = kind()
  expect(wholeObject(one)).toBe(wholeObject(one))
  expect(wholeObject(one)).not.toBe(wholeObject(kind()))
})

test('a whole object has the members of every object, and a status only where the kind has one', () => {
  const { spec, status } = kind()
  expect(Object.keys(wholeObject({ spec, status }).properties)).toEqual([
    'apiVersion',
    'kind',
    'metadata',
    'spec',
    'status',
  ])
  expect(Object.keys(wholeObject({ spec }).properties)).toEqual(['apiVersion', 'kind', 'metadata', 'spec'])
})
