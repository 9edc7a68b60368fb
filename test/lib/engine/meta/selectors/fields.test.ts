import { describe, expect, it } from 'vitest'
import type { StatusError } from '../../../../../lib/engine/meta/errors/status.ts'
import {
  checkFields,
  matchesFields,
  parseFieldSelector,
  requiredValues,
} from '../../../../../lib/engine/meta/selectors/fields.ts'
import vectors from '../vectors/fields.json' with { type: 'json' }

interface Vector {
  selector: string
  requirements?: { field: string; operator: string; value: string }[]
  name?: string
  error?: string
}

const message = (text: string, supported: string[]): string => {
  try {
    checkFields(parseFieldSelector(text), supported)
  } catch (error) {
    expect((error as StatusError).status).toMatchObject({ code: 400, reason: 'BadRequest' })
    return (error as StatusError).message
  }
  throw new Error('was not refused')
}

describe('field selectors', () => {
  it.each(vectors as Vector[])('$selector', ({ selector, requirements, name, error }) => {
    if (error !== undefined) return expect(message(selector, [])).toBe(error)
    const parsed = parseFieldSelector(selector)
    expect(parsed).toEqual(requirements)
    expect(requiredValues(parsed, 'metadata.name')[0]).toBe(name)
  })

  it('reject unsupported fields', () => {
    expect(message('metadata.namespace=x', ['metadata.name'])).toBe('field label not supported: metadata.namespace')
    expect(message('metadata.name=a,spec.user=b', ['metadata.name'])).toBe('field label not supported: spec.user')
    expect(message('=x', ['metadata.name'])).toBe('field label not supported: ')
    expect(message('constructor=x', ['metadata.name'])).toBe('field label not supported: constructor')
    expect(message('a!b,x=\\y', ['a'])).toContain("can't understand 'a!b'")
  })

  it('match if all requirements match', () => {
    const object: Record<string, string> = { 'metadata.name': 'a', 'spec.user': 'u' }
    const selects = (text: string) => matchesFields(parseFieldSelector(text), (field) => object[field] ?? '')
    expect([selects(''), selects('metadata.name=a,spec.user!=x')]).toEqual([true, true])
    expect([selects('metadata.name=a,spec.user!=u'), selects('metadata.name==b')]).toEqual([false, false])
  })
})
