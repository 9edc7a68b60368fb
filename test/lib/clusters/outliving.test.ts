import { describe, expect, test } from 'vitest'
import type { UserInfo } from '../../../lib/access/users/user.ts'
import { outlivingCertificate, outlivingRequest } from '../../../lib/clusters/outliving.ts'
import { admin, alice } from '../../support/users.ts'

const now = new Date('2026-11-22T12:00:00.500Z')
const inSeconds = (seconds: number) => Math.floor(now.getTime() / 1000) + seconds
const federation = { trust: { uid: 't', revision: 1 }, provider: { uid: 'p', revision: 1 }, run: 'a run' }
const expiring = (seconds: number, user: UserInfo = alice): UserInfo => ({
  ...user,
  key: { ...user.key, expires: inSeconds(seconds) },
})
const exchanged = (seconds: number) => expiring(seconds, { ...alice, federation })

describe('a certificate for an exchanged key', () => {
  // threat: exchange-28
  test('must end a minute before the key', () => {
    expect(outlivingRequest(exchanged(3661), 3600, now)).toBeUndefined()
    const why = 'a client certificate would outlive the access key used, which expires at 2026-11-22T13:01:00Z'
    expect(outlivingRequest(exchanged(3660), 3600, now)).toBe(`${why}; ask for spec.certificateTTL of at most 3599`)
    expect(outlivingRequest(exchanged(3660), undefined, now)).toBe(
      `${why}; ask for spec.certificateTTL of at most 3599`,
    )
  })

  test('is refused when Kubernetes signs no certificate that is short enough', () => {
    expect(outlivingRequest(exchanged(661), 600, now)).toBeUndefined()
    expect(outlivingRequest(exchanged(660), 600, now)).toBe(
      'a client certificate would outlive the access key used, which expires at 2026-11-22T12:11:00Z, and Kubernetes signs no certificate for less than 600 seconds; request a token (clientCert: false)',
    )
  })

  // threat: exchange-28
  test('is refused when the virtual cluster signs a longer one', () => {
    const end = new Date(inSeconds(3600) * 1000)
    expect(outlivingCertificate(exchanged(3600), end)).toBeUndefined()
    expect(outlivingCertificate(exchanged(3600), new Date(end.getTime() + 1))).toBe(
      'the virtual cluster signed a client certificate that is valid until 2026-11-22T13:00:00Z, which would outlive the access key used',
    )
  })
})

test('a certificate for another key may outlive it', () => {
  for (const user of [alice, expiring(60)]) {
    expect(outlivingRequest(user, undefined, now)).toBeUndefined()
    expect(outlivingCertificate(user, new Date('2030-01-01T00:00:00Z'))).toBeUndefined()
  }
})

// threat: rotation-12
test('a certificate for a value that was rotated may not outlive it, whoever asks', () => {
  const credential = { version: '1', hash: 'h', created: 0, until: inSeconds(3660) }
  const why = /^a client certificate would outlive the value of the access key used, which was rotated and ends at /u
  for (const user of [alice, admin, expiring(9999)]) {
    expect(outlivingRequest({ ...user, credential }, 3600, now)).toMatch(why)
    expect(outlivingRequest({ ...user, credential }, 3599, now)).toBeUndefined()
    expect(outlivingCertificate({ ...user, credential }, new Date('2030-01-01T00:00:00Z'))).toContain('would outlive')
  }
})
