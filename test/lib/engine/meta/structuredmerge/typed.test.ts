/** Tests the schema of whole objects in the field manager. */
import { expect, test } from 'vitest'
import { object, string } from '../../../../../lib/engine/meta/schema/schema.ts'
import { wholeObject } from '../../../../../lib/engine/meta/structuredmerge/typed.ts'

const kind = () => ({ spec: object('', { text: string('') }), status: object('', { seen: string('') }) })

test('returns the same schema for the same kind, and another for other kinds', () => {
  const one = kind()
  expect(wholeObject(one)).toBe(wholeObject(one))
  expect(wholeObject(one)).not.toBe(wholeObject(kind()))
})

test('declares the members of every object, and a status only if the kind has one', () => {
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
