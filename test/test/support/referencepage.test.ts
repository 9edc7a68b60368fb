import { expect, test } from 'vitest'
import { object, string } from '../../../lib/meta/schema/schema.ts'
import { example } from '../../lib/meta/example.ts'
import { referencePage } from '../../support/referencepage.ts'

test('a page has a line for each field, in the order of the schema', () => {
  const page = referencePage({ ...example, verbs: ['create', 'get'] })
  const lines = page.split('\n')
  expect(lines.slice(0, 13)).toEqual([
    '# Example',
    '',
    'An example.',
    '',
    '- apiVersion: `example.test/v1`',
    '- resource: `examples`, cluster-scoped',
    '- verbs: create, get',
    '',
    '## spec',
    '',
    'What is wanted.',
    '',
    '| Field | Type | Description |',
  ])
  for (const line of [
    '| `spec.displayName` | string | Name for people. At most 20 characters. |',
    '| `spec.type` | string | Who manages it. One of `""`, `"User"`, `"Other"`. |',
    '| `spec.ttl` | int64 | Seconds. At least 0. |',
    '| `spec.groups` | list of string | Groups. At most 3 items. No item twice. |',
    '| `spec.code` | string | A short code. At least 2 characters. At most 8 characters. Matches `^[a-z]+$`. |',
    '| `spec.parent` | string | Another key. Deprecated: use spec.identity. |',
    '| `spec.scope.roles` | list of object | Roles. |',
    '| `spec.scope.roles[].role` | string | Name. Required. |',
    '| `spec.identity.extraClaims` | map of string | Claims. |',
    '| `spec.identity.connectorData` | string | Hidden. Write-only: never returned. |',
    '| `status.phase` | string | Phase. Computed. |',
    '| `status.lastActivity` | date-time | Last use. |',
    '| `status.conditions` | list of object | Conditions. Items differ in type. |',
  ]) {
    expect(lines).toContain(line)
  }
  expect(page).toContain('Write-only: returned once, by the answer that creates the object.')
  expect(page.endsWith(' |\n')).toBe(true)
})

test('what would break a table is escaped', () => {
  const spec = object('S.', { a: string('One | two\nthree, or *.') })
  const page = referencePage({ ...example, subresource: 'x', scope: 'Namespaced', verbs: ['create'], schema: { spec } })
  expect(page).toContain('| `spec.a` | string | One \\| two three, or \\*. |')
  expect(page).toContain('- resource: `examples/x`, namespaced')
  expect(page).not.toContain('## status')
})

test('a part without fields has no table', () => {
  const page = referencePage({ ...example, verbs: ['create'], schema: { spec: object('Nothing is asked.', {}) } })
  expect(page.split('\n').slice(-4)).toEqual(['## spec', '', 'Nothing is asked.', ''])
})
