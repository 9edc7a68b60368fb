/** Tests the query options of lists, which are checked in kube-apiserver's order: numbers, selectors, combinations. */
import { describe, expect, it } from 'vitest'
import { listOptions } from '../../../../../lib/engine/endpoints/lists/listoptions.ts'
import { startOf } from '../../../../../lib/engine/endpoints/lists/page.ts'
import { selectionOf } from '../../../../../lib/engine/endpoints/lists/selection.ts'
import type { StatusError } from '../../../../../lib/engine/meta/errors/status.ts'
import { object } from '../../../../../lib/engine/meta/schema/schema.ts'

const options = (query: Record<string, string>) =>
  listOptions(new Map(Object.entries(query).map(([name, value]) => [name, [value]])), true)

const refusal = (query: Record<string, string>): [number, string] => {
  try {
    options(query)
  } catch (error) {
    const { code, message = '' } = (error as StatusError).status
    return [code, message]
  }
  throw new Error('was not refused')
}

describe('list options', () => {
  it('report the first of several errors', () => {
    const all = { limit: 'x', labelSelector: '(', fieldSelector: 'bad', resourceVersionMatch: 'Foo' }
    expect(refusal(all)).toEqual([400, 'strconv.ParseInt: parsing "x": invalid syntax'])
    expect(refusal({ ...all, limit: '1' })[1]).toContain("found '('")
    expect(refusal({ ...all, limit: '1', labelSelector: '' })[1]).toContain("invalid selector: 'bad'")
    expect(refusal({ resourceVersionMatch: 'Foo' })[0]).toBe(422)
  })

  it('report every rule that a resourceVersionMatch breaks', () =>
    expect(refusal({ resourceVersionMatch: 'Exact', continue: 'x' })[1]).toBe(
      'ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided, resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided]',
    ))

  it('report every rule that a watch breaks', () => {
    const watch = { watch: 'true', sendInitialEvents: 'true' }
    expect(refusal({ ...watch, resourceVersionMatch: 'Exact' })[1]).toBe(
      'ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan, resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"]',
    )
    expect(refusal({ watch: 'true', continue: 'x' })[1]).toContain('is forbidden when continue is provided')
  })

  it('request the initial events for a watch from any version', () => {
    const requestsInitialEvents = (query: Record<string, string>) =>
      options({ watch: 'true', ...query }).sendInitialEvents
    expect([requestsInitialEvents({}), requestsInitialEvents({ resourceVersion: '0' })]).toEqual([true, true])
    expect(requestsInitialEvents({ resourceVersion: '7' })).toBeUndefined()
    expect(requestsInitialEvents({ sendInitialEvents: 'false', resourceVersionMatch: 'NotOlderThan' })).toBe(false)
  })

  it('accept 64-bit numbers', () => {
    expect(options({ limit: '9223372036854775807', timeoutSeconds: '+1' })).toMatchObject({ timeoutSeconds: 1 })
    expect(options({ limit: '-9223372036854775808' }).limit).toBe(0)
    expect(refusal({ limit: '9223372036854775808' })[1]).toContain('value out of range')
    expect(refusal({ limit: '-9223372036854775809' })[1]).toContain('value out of range')
  })

  it('select by the beginning of a name, which is given once', () => {
    const long = 'a'.repeat(253)
    for (const namePrefix of ['c', 'ci-', 'ci-1.', 'a.b-', '0', long]) {
      expect(options({ namePrefix, limit: '1', continue: 'x' }).namePrefix).toBe(namePrefix)
    }
    const wrong = ['', '-', '.', 'a..', 'a-.', 'a.-', 'A', 'a_', 'a/', 'a%', 'ä', ' a', 'a\n', 'a\0', `${long}a`]
    for (const namePrefix of wrong) {
      expect([namePrefix, ...refusal({ namePrefix })]).toEqual([
        namePrefix,
        400,
        expect.stringMatching(/^invalid namePrefix: must be the beginning of a name/),
      ])
    }
    expect(() => listOptions(new Map([['namePrefix', ['a', 'b']]]), true)).toThrow('may be given once')
    expect(options({})).not.toHaveProperty('namePrefix')
  })

  it('ignore the limit for resourceVersion=0, except in a continued list', () => {
    expect(options({ limit: '5', resourceVersion: '0' }).limit).toBe(0)
    expect(options({ limit: '5', resourceVersion: '0', continue: 'x' }).limit).toBe(5)
    expect(options({ limit: '-1' }).limit).toBe(0)
  })

  it('read the exact resourceVersion in pages, otherwise one that is not older', () => {
    const kind = { scope: 'Namespaced', schema: { spec: object('', {}) }, selectableFields: [] } as const
    const at = (query: Record<string, string>, namespace = '') =>
      startOf({ kind, request: { namespace } }, options(query), selectionOf(kind, options(query)))
    expect(at({ resourceVersion: '7' })).toEqual({ notOlderThan: 7 })
    expect(at({ resourceVersion: '7', limit: '5' })).toEqual({ at: 7 })
    expect(at({ resourceVersion: '7', limit: '5', resourceVersionMatch: 'NotOlderThan' })).toEqual({ notOlderThan: 7 })
    // A list of one object has no pages.
    const one = { resourceVersion: '7', limit: '5', fieldSelector: 'metadata.name=a' }
    expect(at(one)).toEqual({ at: 7 })
    expect(at(one, 'ns')).toEqual({ notOlderThan: 7 })
    expect(at({ ...one, fieldSelector: 'metadata.name=a,metadata.namespace=ns' })).toEqual({ notOlderThan: 7 })
    expect(at({ ...one, resourceVersionMatch: 'Exact' }, 'ns')).toEqual({ at: 7 })
    expect(() => at({ resourceVersion: 'abc' })).toThrow('invalid resource version: resourceVersion: Invalid value')
    expect(() => at({ resourceVersion: 'abc', continue: '!' })).toThrow('invalid continue token')
  })
})
