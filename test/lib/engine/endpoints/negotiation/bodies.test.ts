import { describe, expect, it } from 'vitest'
import { bodyType, patchType, patchTypes } from '../../../../../lib/engine/endpoints/negotiation/bodies.ts'
import cases from './vectors/bodies.cases.json' with { type: 'json' }

const headersOf = (type: string) => ({ 'content-type': type })

describe('the type of a body', () => {
  it.each(cases.types as [string, string][])('of %j is %s', (type, expected) =>
    expect(bodyType(headersOf(type))).toBe(expected),
  )

  it.each(cases.rejected)('is rejected: %j', (type) =>
    expect(() => bodyType(headersOf(type))).toThrow('accepted media types include: application/json, application/yaml'),
  )

  it('of a patch is case-sensitive and ignores parameters', () => {
    expect(patchType(headersOf('application/merge-patch+json; charset=utf-8'), patchTypes)).toBe(
      'application/merge-patch+json',
    )
    for (const type of ['APPLICATION/MERGE-PATCH+JSON', ' application/merge-patch+json', 'application/json', '']) {
      expect(() => patchType(headersOf(type), patchTypes)).toThrow(
        'accepted media types include: application/json-patch+json',
      )
    }
  })

  // curl sends this type with `-d @file` and no Content-Type header.
  it('advises senders of a form which Content-Type to use', () => {
    const form = headersOf('application/x-www-form-urlencoded')
    const advice = (type: string) =>
      `; form data is not supported: to send a file with curl, use --data-binary @FILE -H 'Content-Type: ${type}'`
    expect(() => bodyType(form)).toThrow(`application/json, application/yaml${advice('application/yaml')}`)
    expect(() => patchType(form, patchTypes)).toThrow(advice('application/apply-patch+yaml'))
    expect(() => bodyType(headersOf('text/plain'))).toThrow(/application\/yaml$/)
  })
})
