/** Tests that a list authorized as a request for one object shows only that object. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { requestAttributes } from '../../../../../lib/access/attributes/requestattributes.ts'
import { listOptions } from '../../../../../lib/engine/endpoints/lists/listoptions.ts'
import { selecting, selectionOf } from '../../../../../lib/engine/endpoints/lists/selection.ts'
import { StatusError } from '../../../../../lib/engine/meta/errors/status.ts'
import { boolean, object as objectSchema, string } from '../../../../../lib/engine/meta/schema/schema.ts'
import cases from './vectors/selection.cases.json' with { type: 'json' }

const schema = { spec: objectSchema('', { user: string(''), team: string(''), disabled: boolean('') }) }
const kind = { scope: 'Cluster', schema, selectableFields: ['spec.user', 'spec.team', 'spec.disabled'] } as const
const object = (name: string) => ({ apiVersion: 'v1', kind: 'Thing', metadata: { name }, spec: { user: 'alice' } })

/** Returns the name that the authorizer compares with a rule's resourceNames. */
function authorizedName(fieldSelector: string): string {
  const multiValueQueryStringParameters = { fieldSelector: [fieldSelector] }
  const request = { resource: '/apis/g/v1/things', httpMethod: 'GET', multiValueQueryStringParameters }
  const attributes = requestAttributes(request, { basePath: '/base', namespaced: new Set() })
  return attributes.kind === 'resource' ? attributes.name : ''
}

/** Reports whether a list with this selector shows an object of that name. Returns false if the selector is a 400. */
function shows(fieldSelector: string, name: string): boolean {
  try {
    const options = listOptions(new Map([['fieldSelector', [fieldSelector]]]), true)
    return selectionOf(kind, options).matches({ object: object(name) } as never)
  } catch (error) {
    if (error instanceof StatusError) return false
    throw error
  }
}

test('a selector of one name is authorized for that name and shows only that object', () => {
  for (const selector of ['metadata.name=k', 'metadata.name==k', 'spec.user!=x,metadata.name=k', 'metadata.name=k,']) {
    expect([selector, authorizedName(selector), shows(selector, 'k'), shows(selector, 'l')]).toEqual([
      selector,
      'k',
      true,
      false,
    ])
  }
})

test.each([
  ['spec.user=alice', true],
  ['spec.user=bob', false],
  ['spec.team=', true],
  ['spec.disabled=false', true],
  ['spec.disabled=', false],
  ['spec.disabled!=true', true],
])('an absent text is empty, and an absent boolean false: %s is %s', (selector, isShown) =>
  expect(shows(selector, 'k')).toBe(isShown),
)

test('a selector of a name prefix is a list of no name, and shows only names that begin so', () => {
  const multiValueQueryStringParameters = { namePrefix: ['ci-'] }
  const request = { resource: '/apis/g/v1/things', httpMethod: 'GET', multiValueQueryStringParameters }
  const attributes = requestAttributes(request, { basePath: '/base', namespaced: new Set() })
  expect(attributes).toMatchObject({ kind: 'resource', verb: 'list', name: '' })
  const { all, matches } = selectionOf(kind, listOptions(new Map([['namePrefix', ['ci-']]]), true))
  const shown = ['ci-', 'ci-a', 'ci', 'a-ci-'].filter((name) => matches({ object: object(name) } as never))
  expect([all, shown]).toEqual([true, ['ci-', 'ci-a']])
})

test.each([
  ['', true],
  ['labelSelector=a', false],
  ['fieldSelector=metadata.name%3Dk', false],
  ['namePrefix=ci-', true],
  ['namePrefix=ci-&labelSelector=a', false],
])('a selection of everything has no filter: %s', (query, all) => {
  const named = [...new URLSearchParams(query)].map(([name, value]): [string, string[]] => [name, [value]])
  expect(selectionOf(kind, listOptions(new Map(named), true)).all).toBe(all)
})

test('every filter leaves out what does not meet it, and a selection with one is not of everything', () => {
  const stored = { object: object('k') } as never
  const [yes, no] = [() => true, () => false]
  const place = { name: undefined, namespace: undefined }
  const seen = [[], [yes], [yes, no], [no, yes]].map((filters) => {
    const { all, matches } = selecting(filters, place)
    return [all, matches(stored)]
  })
  expect(seen).toEqual([
    [true, true],
    [false, true],
    [false, false],
    [false, false],
  ])
})

test.each(cases.widened)('%s is not authorized as a request for one object', (selector) =>
  expect(authorizedName(selector)).toBe(''),
)

// threat: authorizer-5
test('no selector shows an object that it was not authorized for', () => {
  const whole = fc.constantFrom('metadata.name=k', 'metadata.name==l', 'spec.user!=x', 'metadata.name')
  const piece = fc.oneof(whole, fc.constantFrom('=', '!=', ',', ',', '\\', 'k', ' ', '%'))
  let named = 0
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const selector = pieces.join('')
      const name = authorizedName(selector)
      if (name === '') return
      named++
      for (const other of ['k', 'l', 'kl']) if (other !== name) expect(shows(selector, other)).toBe(false)
    }),
    { numRuns: 5_000, seed: 20261121 },
  )
  expect(named).toBeGreaterThan(100)
})
