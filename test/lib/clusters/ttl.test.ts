import { describe, expect, test } from 'vitest'
import { certificateTtl, tokenTtl } from '../../../lib/clusters/ttl.ts'

const free = { maxTokenSeconds: 604_800 }
const limited = { maxTokenSeconds: 604_800, maxCertificateSeconds: 172_800 }
const error = (value: string, detail: string) => ({
  error: { type: 'FieldValueInvalid', field: 'spec.certificateTTL', message: `Invalid value: ${value}: ${detail}` },
})
const SHORT = 'may not specify a duration less than 600 seconds (10 minutes)'

describe('tokens and certificates', () => {
  test.each<[number | bigint]>([[-1], [1], [59], [60], [599], [-2_147_483_648], [-(2n ** 63n)]])(
    'reject %s if it is too short',
    (ttl) => {
      expect(certificateTtl(ttl, free)).toEqual(error(String(ttl), SHORT))
      const ofToken = error(String(ttl), 'may not specify a duration less than 60 seconds')
      expect(tokenTtl(ttl, free)).toEqual(ttl < 60 ? ofToken : { seconds: ttl })
    },
  )

  test('last at least 600 and 60 seconds, and a day by default', () => {
    expect(certificateTtl(600, free)).toEqual({ seconds: 600 })
    expect(tokenTtl(60, free)).toEqual({ seconds: 60 })
    expect(certificateTtl(undefined, free)).toEqual({ seconds: 86_400 })
    expect(tokenTtl(undefined, free)).toEqual({ seconds: 86_400 })
  })

  test('never exceed the maximum by default', () => {
    expect(certificateTtl(undefined, { ...free, maxCertificateSeconds: 3600 })).toEqual({ seconds: 3600 })
    expect(tokenTtl(undefined, { maxTokenSeconds: 3600 })).toEqual({ seconds: 3600 })
  })
})

describe('a certificate', () => {
  test('leaves the duration to the cluster for 0', () => expect(certificateTtl(0, free)).toEqual({}))

  test('rejects 0 if there is a maximum', () => {
    const detail =
      'may not specify a duration larger than 172800 seconds, and 0 leaves the duration to the virtual cluster'
    expect(certificateTtl(0, limited)).toEqual(error('0', detail))
  })

  test('rejects a duration over the maximum', () => {
    expect(certificateTtl(172_800, limited)).toEqual({ seconds: 172_800 })
    expect(certificateTtl(172_801, limited)).toEqual(
      error('172801', 'may not specify a duration larger than 172800 seconds'),
    )
  })

  test('is limited to int32', () => {
    expect(certificateTtl(2_147_483_647, free)).toEqual({ seconds: 2_147_483_647 })
    const detail = 'may not specify a duration larger than 2147483647 seconds'
    expect(certificateTtl(2_147_483_648, free)).toEqual(error('2147483648', detail))
    expect(certificateTtl(2n ** 63n - 1n, free)).toEqual(error('9223372036854775807', detail))
  })
})

describe('a token', () => {
  test('lasts as long as the deployment allows for 0', () => expect(tokenTtl(0, free)).toEqual({ seconds: 604_800 }))

  test('rejects a duration over the maximum', () =>
    expect(tokenTtl(604_801, free)).toEqual(error('604801', 'may not specify a duration larger than 604800 seconds')))
})
