/** Tests the keys of issuers with an OpenID provider of others: discovery, ID tokens and rotation over TLS. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { storageOver } from '../../../lib/engine/storage/protocol/storage.ts'
import { fetchKeys } from '../../../lib/federation/discovery.ts'
import { checkTimes, parseIdToken } from '../../../lib/federation/idtoken.ts'
import { createIssuerKeys, type IssuerKeys } from '../../../lib/federation/issuerkeys.ts'
import type { Provider } from '../../../lib/federation/provider.ts'
import { unlimited } from '../../support/deadlines.ts'
import { createMemoryItems } from '../../support/memoryitems.ts'
import { oidcClientId, startOidcProvider, type TestOidcProvider } from '../../support/oidcprovider.ts'

let oidc: TestOidcProvider
let keys: IssuerKeys
/** How far the clock of the function is ahead, in ms. */
let ahead: number
const failures: unknown[] = []

beforeAll(async () => {
  oidc = await startOidcProvider()
  ahead = 0
  const now = () => Date.now() + ahead
  const { destinations, certificateAuthority } = oidc
  keys = createIssuerKeys({
    storage: storageOver(createMemoryItems(now), { now, random: Math.random, sleep: async () => {} }),
    fetch: (source) => fetchKeys({ destinations, certificateAuthority, timeout: unlimited }, source),
    observer: { fetched: (_, error) => error && failures.push(error), stale: () => undefined },
    now,
    sleep: async () => {},
  })
})
afterAll(() => oidc.close())

const provider = (): Provider => ({
  name: 'company',
  uid: 'uid',
  revision: 1,
  deleted: false,
  spec: { issuer: oidc.issuer, algorithms: ['RS256', 'PS256', 'ES256'] },
})

test('an ID token of oidc-provider is verified with discovered keys, also after each rotation', async () => {
  let earlier = parseIdToken(await oidc.login('al'))
  expect(earlier).toMatchObject({ issuer: oidc.issuer, audience: oidcClientId, subject: 'al', alg: 'RS256' })
  expect(earlier.claims).toMatchObject({ email: 'al@example.com', email_verified: true, groups: ['engineering'] })
  expect([checkTimes(earlier, new Date()), await keys.verify(provider(), earlier)]).toEqual([undefined, 'valid'])
  for (const alg of ['ES256', 'PS256', 'RS256'] as const) {
    oidc.rotate(alg)
    ahead += 61_000
    const token = parseIdToken(await oidc.login('jo'))
    expect(token).toMatchObject({ alg, subject: 'jo' })
    expect(await keys.verify(provider(), token)).toBe('valid')
    expect(await keys.verify(provider(), earlier)).toMatchObject({ unknown: 'key' })
    earlier = token
  }
  expect(failures).toEqual([])
})
