/** The texts that all clients read in the same way: durations, warnings, answers, names and the failures of a network. */
import { describe, expect, test } from 'vitest'
import {
  asSentence,
  causesOf,
  isUnknownPath,
  mayPass,
  objectIn,
  retryAfterIn,
} from '../../../clients/core/src/answers.ts'
import { duration, durationSeconds } from '../../../clients/core/src/durations.ts'
import { isBearer, isClientId, virtualClusterIn } from '../../../clients/core/src/forms.ts'
import { networkFailure } from '../../../clients/core/src/networkfailure.ts'
import { warningsIn } from '../../../clients/core/src/warnings.ts'
import { deploymentName, entryNameOf } from '../../../lib/clusters/deployment.ts'

describe('durations', () => {
  test('are numbers with units', () => {
    const texts = ['90s', '30m', '12h', '7d', '2w', '1h30m', duration(31_536_000), '0s']
    const values = [90, 1800, 43_200, 604_800, 1_209_600, 5400, 31_536_000, 0]
    expect(texts.map(durationSeconds)).toEqual(values)
  })

  test.each(['', '5', '1.5h', '-1h', '1M', 'h', '1 h', '1H', '٣d', `${'9'.repeat(10)}s`])('%j is none', (text) => {
    expect(durationSeconds(text)).toBeUndefined()
  })

  test('are short for people', () => {
    const values = [0, 119, 120, 60, 3600, 5400, 7199, 86_390, 100_000, 7200, 172_800, 2_591_990, 63_072_000, -5]
    const texts = ['0s', '119s', '2m', '1m', '1h', '90m', '2h', '1d', '28h', '2h', '2d', '30d', '2y', '0s']
    expect(values.map(duration)).toEqual(texts)
  })
})

test('warnings are read from joined headers, with commas, quotes and backslashes in their texts', () => {
  expect(warningsIn(['299 - "one, \\"two\\"", 299 - "a \\\\ b"', '299 k "c"'])).toEqual(['one, "two"', 'a \\ b', 'c'])
  expect(warningsIn(['', '110 - "stale"', 'x299 - "d"'])).toEqual([])
})

describe('an answer', () => {
  test.each([
    [400, false],
    [408, true],
    [409, false],
    [429, true],
    [499, false],
    [500, true],
  ])('%i may be another one later: %s', (code, isLater) => expect(mayPass(code)).toBe(isLater))

  test('has an object, or none', () => {
    expect(['{"a":1}', '[1]', 'null', '', '{'].map(objectIn)).toEqual([
      { a: 1 },
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })

  test('says when to ask again, in seconds', () => {
    expect(['7', '0', '-1', 'soon', null].map(retryAfterIn)).toEqual([7, 0, undefined, undefined, undefined])
  })

  test('is that of API Gateway for an unknown path only if it says nothing else', () => {
    expect(isUnknownPath(403, { message: 'Forbidden' })).toBe(true)
    expect(isUnknownPath(403, { message: 'Forbidden', kind: 'Status' })).toBe(false)
    expect(isUnknownPath(404, { message: 'Forbidden' })).toBe(false)
    expect(isUnknownPath(403, undefined)).toBe(false)
  })

  test('has the causes that its message does not contain', () => {
    const causes = [{ message: 'known' }, { field: 'spec.ttl', message: 'too long' }, { message: 'other' }, null, {}]
    expect(causesOf({ kind: 'Status', details: { causes: causes as [] } }, 'it is known')).toEqual([
      'spec.ttl: too long',
      'other',
    ])
    expect(causesOf({ kind: 'Status', details: { causes: 'x' as never } }, '')).toEqual([])
  })
})

test('a context is named after the host and the stage of its server', () => {
  const servers = [
    'https://a.example/prod/kubernetes/management',
    'https://127.0.0.1:8443/kubernetes/management',
    'https://a/b/',
  ]
  expect(servers.map(deploymentName)).toEqual(['a.example/prod', '127.0.0.1:8443', 'a/b'])
  // kubectl takes the first of two entries with one name, so entries of two deployments have two.
  expect(new Set(servers.map((server) => entryNameOf('demo.p-demo', server))).size).toBe(3)
})

test('the forms of keys, client IDs and virtual clusters', () => {
  expect(['mpk_a', 'a b', 'a\n', '', 'é', undefined].map(isBearer)).toEqual([true, false, false, false, false, false])
  const uid = '0f0e0d0c-0b0a-0908-0706-050403020100'
  expect([`demo@${uid}`, `-demo@${uid}`, uid, `demo@${uid}0`].map(isClientId)).toEqual([true, false, false, false])
  expect(['shop/dev', 'shop', 'shop/dev/x', 'Shop/dev', '/dev'].map(virtualClusterIn)).toEqual([
    { project: 'shop', name: 'dev' },
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test.each([
  ['SELF_SIGNED_CERT_IN_CHAIN', 'untrusted', false],
  ['CERT_NOT_YET_VALID', 'expired', false],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'otherHost', false],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'notHttps', false],
  ['ENOTFOUND', 'unknownHost', false],
  ['EAI_AGAIN', 'unknownHost', true],
  ['ECONNREFUSED', 'notListening', true],
  ['ETIMEDOUT', 'silent', true],
  ['ECONNRESET', 'closed', true],
  ['ENETUNREACH', 'other', true],
])('a failure of the network with %s is %s, and may pass: %s', (code, kind, isPassing) => {
  const failure = networkFailure(Object.assign(new Error('why'), { code }), 'a.example')
  expect(failure).toEqual({ kind, isPassing, text: expect.stringMatching(/a\.example(?!.*\.\.$).*\.$/) })
})

test('a message of others becomes a sentence with one full stop', () => {
  const texts = ['refused', 'refused.', 'Really?', 'Stop!', 'a.b']
  expect(texts.map(asSentence)).toEqual(['refused.', 'refused.', 'Really?', 'Stop!', 'a.b.'])
  const failure = networkFailure(Object.assign(new Error('It is closed.'), { code: 'E' }), 'a.example')
  expect(failure.text).toBe('The request to a.example failed: It is closed.')
})
