/** Tests DeleteOptions in request bodies against the messages of kube-apiserver 1.34. */
import { describe, expect, it } from 'vitest'
import { decodeDeleteOptions } from '../../../../lib/meta/object/deleteoptions.ts'
import type { JsonValue } from '../../../../lib/meta/types.ts'

describe('decodeDeleteOptions', () => {
  it.each<[JsonValue, object]>([
    [null, { dryRun: [] }],
    [{}, { dryRun: [] }],
    [{ kind: 'DeleteOptions', apiVersion: 'x/v1', unknown: 1 }, { dryRun: [] }],
    [
      { dryRun: ['All'], propagationPolicy: '' },
      { dryRun: ['All'], propagationPolicy: '' },
    ],
    [
      { preconditions: { uid: 'u' }, orphanDependents: false },
      { dryRun: [], preconditions: { uid: 'u' }, orphanDependents: false },
    ],
  ])('decodes %j', (value, expected) => expect(decodeDeleteOptions(value)).toEqual(expected))

  it.each<[JsonValue, string]>([
    [
      { kind: 5 },
      "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string",
    ],
    [[], "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct {"],
    [{ kind: 'Other' }, 'no kind "Other" is registered for version "meta.k8s.io/v1"'],
    [{ apiVersion: 'a/b/c' }, 'unexpected GroupVersion string: a/b/c'],
    [
      { preconditions: 'x' },
      'json: cannot unmarshal string into Go struct field DeleteOptions.preconditions of type v1.Preconditions',
    ],
    [
      { preconditions: { uid: 5 } },
      'json: cannot unmarshal number into Go struct field Preconditions.preconditions.uid of type types.UID',
    ],
    [
      { gracePeriodSeconds: 1.5 },
      'json: cannot unmarshal number 1.5 into Go struct field DeleteOptions.gracePeriodSeconds of type int64',
    ],
    [{ dryRun: 'All' }, 'json: cannot unmarshal string into Go struct field DeleteOptions.dryRun of type []string'],
    [{ dryRun: [5] }, 'json: cannot unmarshal number into Go struct field DeleteOptions.dryRun of type string'],
    [
      { propagationPolicy: 5 },
      'json: cannot unmarshal number into Go struct field DeleteOptions.propagationPolicy of type v1.DeletionPropagation',
    ],
  ])('throws 400 for %j', (value, message) => expect(() => decodeDeleteOptions(value)).toThrow(message))

  it('rejects floating-point numbers in integer fields', () => {
    const floats = new Map([['gracePeriodSeconds', '5.0']])
    const message =
      'json: cannot unmarshal number 5.0 into Go struct field DeleteOptions.gracePeriodSeconds of type int64'
    expect(() => decodeDeleteOptions({ gracePeriodSeconds: 5 }, floats)).toThrow(message)
  })
})
