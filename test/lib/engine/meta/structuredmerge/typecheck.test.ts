/** Tests the errors of applied configurations against the messages of structured-merge-diff v6.3.0. */
import { describe, expect, it } from 'vitest'
import { object, string, time } from '../../../../../lib/engine/meta/schema/schema.ts'
import { configurationErrors, isTyped } from '../../../../../lib/engine/meta/structuredmerge/typecheck.ts'
import { wholeObject } from '../../../../../lib/engine/meta/structuredmerge/typed.ts'
import type { JsonObject } from '../../../../../lib/engine/meta/types.ts'
import { thing } from '../thing.ts'
import cases from './vectors/typecheck.cases.json' with { type: 'json' }

const errors = (spec: JsonObject): string | undefined => configurationErrors({ spec }, thing)

it('accepts any member in an object without declared members', () => {
  const entry = { time: 'bad', fieldsV1: { 'f:metadata': { 'f:labels': {} } } }
  expect(configurationErrors({ metadata: { managedFields: [entry] } }, thing)).toBeUndefined()
})

describe('a configuration', () => {
  it.each(cases.rejected as [string, JsonObject][])('is rejected with: %s', (text, spec) =>
    expect(errors(spec)).toBe(text),
  )

  it('may omit all keys but one, contain nulls, and have duplicates in atomic lists', () =>
    expect(errors({ byTwo: [{ port: 1 }, { protocol: 'a' }], text: null, texts: null, atomicList: ['a', 'a'] })).toBe(
      undefined,
    ))

  it('is not quoted in full', () => expect(errors({ flag: 'x'.repeat(100_000) })?.length).toBeLessThan(400))

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
    expect([isTyped({ spec: { text: 5 } }, thing), isTyped({ spec: { text: null } }, thing)]).toEqual([false, true])
  })
})
