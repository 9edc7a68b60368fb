import fc from 'fast-check'
import { expect, test } from 'vitest'
import { secretName } from '../../../lib/clusters/secretname.ts'
import cases from './vectors/secretname.cases.json' with { type: 'json' }

const PREFIX = 'keyplane/dev/virtualclusters/'
const name = (reference: string) => secretName(PREFIX, reference, 'spec.x')

test.each(['p-shop/dev', 'dev', 'a.b/c_d+e=f@g-h'])('secretName accepts %s below the prefix', (reference) => {
  expect(name(reference)).toBe(`${PREFIX}${reference}`)
})

test.each(cases.rejected)('secretName rejects %j, which is not a name or leaves the prefix', (reference) => {
  expect(name(reference)).toMatchObject({ error: { type: 'FieldValueInvalid', field: 'spec.x' } })
})

test('secretName limits the full name to 512 characters', () => {
  expect(name('x'.repeat(512 - PREFIX.length))).toHaveLength(512)
  expect(name('x'.repeat(513 - PREFIX.length))).toMatchObject({ error: { message: expect.stringContaining('483') } })
})

// threat: storage-7
test('every accepted name stays below the prefix when resolved as a path', () => {
  const step = fc.oneof(fc.string(), fc.constantFrom('..', '.', '', 'a'))
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const found = name(steps.join('/'))
      if (typeof found === 'string') expect(new URL(found, 'https://x/').pathname).toBe(`/${found}`)
    }),
  )
})
