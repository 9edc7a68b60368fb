/** Tests DeleteOptions in request bodies against the messages of kube-apiserver 1.34. */
import { describe, expect, it } from 'vitest'
import { decodeDeleteOptions } from '../../../../../lib/engine/meta/object/deleteoptions.ts'
import type { JsonValue } from '../../../../../lib/engine/meta/types.ts'
import cases from './vectors/deleteoptions.cases.json' with { type: 'json' }

describe('decodeDeleteOptions', () => {
  it.each(cases.decoded as [JsonValue, object][])('decodes %j', (value, expected) =>
    expect(decodeDeleteOptions(value)).toEqual(expected),
  )

  it.each(cases.refused as [JsonValue, string][])('throws 400 for %j', (value, message) =>
    expect(() => decodeDeleteOptions(value)).toThrow(message),
  )

  it('rejects floating-point numbers in integer fields', () => {
    const floats = new Map([['gracePeriodSeconds', '5.0']])
    const message =
      'json: cannot unmarshal number 5.0 into Go struct field DeleteOptions.gracePeriodSeconds of type int64'
    expect(() => decodeDeleteOptions({ gracePeriodSeconds: 5 }, floats)).toThrow(message)
  })
})
