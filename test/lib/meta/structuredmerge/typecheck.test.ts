/** Tests the errors of applied configurations against the messages of structured-merge-diff v6.3.0. */
import { describe, expect, it } from 'vitest'
import { object, string, time } from '../../../../lib/meta/schema/schema.ts'
import { configurationErrors, isTyped } from '../../../../lib/meta/structuredmerge/typecheck.ts'
import { wholeObject } from '../../../../lib/meta/structuredmerge/typed.ts'
import type { JsonObject } from '../../../../lib/meta/types.ts'
import { thing } from '../thing.ts'

const errors = (spec: JsonObject): string | undefined => configurationErrors({ spec }, thing)

it('accepts any member in an object without declared members', () => {
  const entry = { time: 'bad', fieldsV1: { 'f:metadata': { 'f:labels': {} } } }
  expect(configurationErrors({ metadata: { managedFields: [entry] } }, thing)).toBeUndefined()
})

describe('a configuration', () => {
  it.each<[string, JsonObject]>([
    ['.spec.unknown: field not declared in schema', { unknown: 1 }],
    ['.spec.toString: field not declared in schema', { toString: 'x' }],
    ['.spec.text: expected string, got &value.valueUnstructured{Value:5}', { text: 5 }],
    ['.spec.text: expected string, got &value.valueUnstructured{Value:true}', { text: true }],
    [
      '.spec.text: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":[]interface {}{"b", interface {}(nil)}}}',
      { text: { a: ['b', null] } },
    ],
    ['.spec.number: expected numeric (int or float), got string', { number: 'x' }],
    ['.spec.number: expected numeric (int or float), got []interface {}', { number: [] }],
    ['.spec.number: expected numeric (int or float), got map[string]interface {}', { number: {} }],
    ['.spec.number: expected numeric (int or float), got bool', { number: false }],
    ['.spec.flag: expected boolean, got &{x}', { flag: 'x' }],
    ['.spec.flag: expected boolean, got &{[1 map[a:b]]}', { flag: [1, { a: 'b' }] }],
    ['.spec.texts: expected list, got &{a}', { texts: 'a' }],
    ['.spec.map: expected map, got &{[1 2]}', { map: [1, 2] }],
    ['.spec.map.a: expected string, got &value.valueUnstructured{Value:1}', { map: { a: 1 } }],
    ['.spec.atomicList[1]: expected string, got &value.valueUnstructured{Value:1}', { atomicList: ['a', 1] }],
    ['.spec.texts: duplicate entries for key [="a"]', { texts: ['a', 'b', 'a'] }],
    ['.spec.byName: duplicate entries for key [name="a"]', { byName: [{ name: 'a' }, { name: 'a', value: 'x' }] }],
    [
      '.spec.byName: element 1: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
      { byName: [{ name: 'a' }, { value: 'x' }] },
    ],
    [
      '.spec.byTwo: element 0: associative list with keys has an element that omits all key fields ["port" "protocol"] (and doesn\'t have default values for any key fields)',
      { byTwo: [{}] },
    ],
    ['.spec.byName: element 0: associative list with keys may not have a null element', { byName: [null, null] }],
    ['.spec.byName: element 0: associative list with keys may not have non-map elements', { byName: ['a'] }],
    [".spec.texts: element 0: associative list without keys has an element that's an explicit null", { texts: [null] }],
    [".spec.texts: element 0: associative list without keys has an element that's a map type", { texts: [{}] }],
    ['.spec.texts: element 0: not supported: associative list with lists as elements', { texts: [[]] }],
    ['.spec.byName[name="a"].flag: expected boolean, got &{1}', { byName: [{ name: 'a', flag: 1 }] }],
    [
      'errors:\n  .spec.flag: expected boolean, got &{1}\n  .spec.number: expected numeric (int or float), got string',
      { number: 'x', flag: 1 },
    ],
  ])('is rejected with: %s', (text, spec) => {
    expect(errors(spec)).toBe(text)
  })

  it('may omit all keys but one, contain nulls, and have duplicates in atomic lists', () => {
    expect(errors({ byTwo: [{ port: 1 }, { protocol: 'a' }], text: null, texts: null, atomicList: ['a', 'a'] })).toBe(
      undefined,
    )
  })

  it('is not quoted in full', () => {
    expect(errors({ flag: 'x'.repeat(100_000) })?.length).toBeLessThan(400)
  })

  it('is not quoted where the schema expects an object with a write-only field', () => {
    const login = object('', { token: string('', { writeOnly: 'never' }) })
    const schema = object('', { spec: object('', { login }) })
    const found = [{ login: ['hidden'] }, { login: 'hidden' }].map((spec) => configurationErrors({ spec }, schema))
    expect(found).toEqual(Array(2).fill('.spec.login: expected map, got <redacted>'))
    expect(configurationErrors({ spec: 'hidden' }, schema)).toBe('.spec: expected map, got <redacted>')
  })
})

describe('undocumented behaviour of Kubernetes', () => {
  const kind = wholeObject({ spec: object('', { at: time('') }) })

  it('accepts any scalar as a time', () => {
    expect(configurationErrors({ spec: { at: 5 }, metadata: { deletionTimestamp: true } }, kind)).toBeUndefined()
    expect(configurationErrors({ spec: { at: {} } }, kind)).toBe('.spec.at: expected any scalar, got &{map[]}')
  })

  it('accepts owner references without a uid, and selfLink', () => {
    const metadata = { selfLink: '/x', ownerReferences: [{ name: 'a' }] }
    expect(configurationErrors({ metadata }, kind)).toBeUndefined()
    const twice = { ownerReferences: [{ name: 'a' }, { uid: '' }] }
    expect(configurationErrors({ metadata: twice }, kind)).toContain('duplicate entries for key [uid=""]')
  })

  it('computes ownership with duplicate items, but not with values of wrong types', () => {
    expect(isTyped({ spec: { texts: ['a', 'a'] } }, thing)).toBe(true)
    expect(isTyped({ spec: { text: 5 } }, thing)).toBe(false)
    expect(isTyped({ spec: { text: null } }, thing)).toBe(true)
  })
})
