import { describe, expect, it } from 'vitest'
import { bodyType, patchType } from '../../../lib/endpoints/bodies.ts'

const typed = (type: string) => ({ 'content-type': type })

describe('the type of a body', () => {
  it.each([
    ['', 'json'],
    ['application/json', 'json'],
    ['Application/JSON', 'json'],
    ['application/json; charset=utf-8', 'json'],
    ['application/json;', 'json'],
    ['application/yaml; a="b;c"', 'yaml'],
  ])('%j is read as %s', (type, expected) => expect(bodyType(typed(type))).toBe(expected))

  it.each(['text/plain', 'application/json;;', 'application/json; charset', 'application/vnd.kubernetes.protobuf'])(
    '%j is not read',
    (type) =>
      expect(() => bodyType(typed(type))).toThrow('accepted media types include: application/json, application/yaml'),
  )

  it('of a patch is told apart by case, and by nothing else', () => {
    expect(patchType(typed('application/merge-patch+json; charset=utf-8'))).toBe('application/merge-patch+json')
    for (const type of ['APPLICATION/MERGE-PATCH+JSON', ' application/merge-patch+json', 'application/json', '']) {
      expect(() => patchType(typed(type))).toThrow('accepted media types include: application/json-patch+json')
    }
  })
})
