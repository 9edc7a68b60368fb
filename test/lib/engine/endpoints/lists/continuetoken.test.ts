/** Tests continue tokens. Every error message was recorded from kube-apiserver 1.34. */
import { describe, expect, it } from 'vitest'
import { decodeContinue, encodeContinue } from '../../../../../lib/engine/endpoints/lists/continuetoken.ts'

const token = (value: unknown): string => Buffer.from(JSON.stringify(value) ?? '').toString('base64url')
const text = (value: string): string => Buffer.from(value, 'latin1').toString('base64url')
const v = 'meta.k8s.io/v1'

describe('a continue token', () => {
  it('decodes to the values it was encoded from', () => {
    expect(decodeContinue(encodeContinue({ rv: 582, after: 'ns/name' }))).toEqual({ rv: 582, after: 'ns/name' })
    expect(decodeContinue(token({ v, rv: -5, start: 'a\0' }))).toEqual({ rv: -1, after: 'a' })
  })

  it.each([
    ['a=b', 'illegal base64 data at input byte 1'],
    [text('i'), "invalid character 'i' looking for beginning of value"],
    [token([]), 'json: cannot unmarshal array into Go value of type storage.continueToken'],
    [token({ v: 1 }), 'json: cannot unmarshal number into Go struct field continueToken.v of type string'],
    [token({ v, rv: '1' }), 'json: cannot unmarshal string into Go struct field continueToken.rv of type int64'],
    [token(null), 'server does not recognize this encoded version '],
    [token({ v: 'x' }), 'server does not recognize this encoded version x'],
    [token({ v }), `incorrect encoded start resourceVersion (version ${v})`],
    [token({ v, rv: 1 }), `encoded start key empty (version ${v})`],
    [token({ v, rv: 1, start: '../x' }), '../x'],
  ])('is rejected: %s', (bad, why) => {
    expect(() => decodeContinue(bad)).toThrow(`invalid continue token: continue key is not valid: ${why}`)
  })
})
