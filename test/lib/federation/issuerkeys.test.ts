/** Tests when keys are fetched, kept and refused: functions with memories of their own share a table and a real issuer. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { StorageError } from '../../../lib/engine/storage/errors.ts'
import type { Storage } from '../../../lib/engine/storage/interface.ts'
import { storageOver } from '../../../lib/engine/storage/protocol/storage.ts'
import { getCompanion } from '../../../lib/engine/storage/readcompanions.ts'
import { fetchKeys } from '../../../lib/federation/discovery.ts'
import type { ProviderSpec } from '../../../lib/federation/identityprovider.schema.ts'
import { parseIdToken } from '../../../lib/federation/idtoken.ts'
import { createIssuerKeys, type IssuerKeys } from '../../../lib/federation/issuerkeys.ts'
import type { Provider } from '../../../lib/federation/provider.ts'
import { unlimited } from '../../support/deadlines.ts'
import { startIssuer, type TestIssuer } from '../../support/issuer.ts'
import { type IssuerKey, makeIssuerKey } from '../../support/issuerkey.ts'
import { createMemoryItems } from '../../support/memoryitems.ts'
import { openStore, storageIn } from '../../support/store.ts'

const second = 1000
const minute = 60 * second
const uid = 'provider-uid'
let issuer: TestIssuer
let storage: Storage
/** Unix ms. */
let time: number
/** What happened since it was emptied: calls of the store, waits, and what the observer learned. */
let events: string[]
/** Runs in each wait. */
let during: () => Promise<void> | void
/** Runs before each call of the store. */
let calling: (call: string) => void

beforeAll(async () => {
  issuer = await startIssuer({ alg: 'ES256' })
})
afterAll(() => issuer.close())
beforeEach(() => {
  issuer.faults = {}
  issuer.headers = {}
  issuer.beforeAnswer = () => undefined
  nameIssuer(issuer.url)
  issuer.rotate({ kid: 'one' })
  issuer.requests = { discovery: 0, keys: 0, other: 0 }
  time = 1_800_000_000_000
  const now = () => time
  storage = storageOver(createMemoryItems(now), { now, random: Math.random, sleep: async () => {} })
  events = []
  during = () => undefined
  calling = () => undefined
})

const nameIssuer = (name: string) => {
  issuer.documents.discovery = { issuer: name, jwks_uri: `${issuer.url}/keys` }
}

const note = (event: string) => void events.push(event)

/** Returns the keys as one function has them, with a memory of its own. */
function startFunction(timeout: (ms: number) => AbortSignal = unlimited): IssuerKeys {
  const { destinations, certificateAuthority } = issuer
  const call = (name: string) => {
    note(name)
    calling(name)
  }
  return createIssuerKeys({
    storage: {
      getCompanions(keys) {
        call('read')
        return storage.getCompanions(keys)
      },
      writeCompanion(item, options) {
        call('write')
        return storage.writeCompanion(item, options)
      },
    },
    fetch: (source) => fetchKeys({ destinations, certificateAuthority, timeout }, source),
    observer: {
      fetched: (_, error) => note(error ? `failed: ${(error as Error).message}` : 'fetched'),
      stale: (_, age) => note(`stale ${age}`),
    },
    now: () => time,
    async sleep(ms) {
      note(`wait ${ms}`)
      time += ms
      await during()
    },
  })
}

const provider = (spec: Partial<ProviderSpec> = {}, revision = 1): Provider => ({
  name: 'ci',
  uid,
  revision,
  deleted: false,
  spec: { issuer: issuer.url, ...spec },
})

const signed = (key?: IssuerKey, header?: Record<string, unknown>) =>
  parseIdToken(issuer.sign({}, { ...(key && { key }), ...(header && { header }) }))

/** Returns a function that has fetched the keys. */
async function startWithKeys(): Promise<IssuerKeys> {
  const keys = startFunction()
  await observe(keys)
  return keys
}

/** Verifies a token and returns the verdict with what happened. Of what is unknown it names the next fetch. */
async function observe(keys: IssuerKeys, token = signed(), by = provider()) {
  events = []
  const verdict = await keys.verify(by, token)
  return [typeof verdict === 'string' ? verdict : `${verdict.unknown} unknown, ${verdict.retryAfter} s`, ...events]
}

const fetches = () => issuer.requests.keys
const stored = async () => (await getCompanion(storage, { pk: `jwks#${uid}`, sk: '#' }))?.attributes
const kids = async () => ((await stored())?.keys as { kid?: string }[] | undefined)?.map(({ kid }) => kid)

const theFetch = ['write', 'write', 'fetched']
const theWait = Array(8).fill(['wait 250', 'read']).flat()
/** A token of somebody else with the id of the key. */
const forge = () => signed(makeIssuerKey('ES256', 'one'))

describe('pinned keys', () => {
  test('verify without a call', async () => {
    const keys = startFunction()
    const pinned = provider({ issuer: 'https://elsewhere.test', jwks: issuer.jwks() })
    expect(await observe(keys, signed(), pinned)).toEqual(['valid'])
    expect(await observe(keys, signed(makeIssuerKey('ES256', 'one')), pinned)).toEqual(['invalid'])
    expect([await observe(keys, signed(makeIssuerKey('ES256', 'two')), pinned), fetches()]).toEqual([['invalid'], 0])
  })

  test('count as soon as they are changed, even at the same revision', async () => {
    const keys = startFunction()
    const { key } = issuer
    const added = makeIssuerKey('RS256', 'two')
    await observe(keys, signed(), provider({ jwks: issuer.jwks() }))
    const both = provider({ jwks: JSON.stringify({ keys: [key.jwk, added.jwk] }) })
    expect(await observe(keys, signed(added), both)).toEqual(['valid'])
    const other = provider({ jwks: JSON.stringify({ keys: [added.jwk] }) }, 2)
    expect(await observe(keys, signed(key), other)).toEqual(['invalid'])
  })

  test('of two issuers with one URL are not confused', async () => {
    const keys = startFunction()
    const other = makeIssuerKey('ES256', 'one')
    const theirs = { ...provider({ jwks: JSON.stringify({ keys: [other.jwk] }) }), uid: 'theirs' }
    expect(await observe(keys, signed(), provider({ jwks: issuer.jwks() }))).toEqual(['valid'])
    expect(await observe(keys, signed(), theirs)).toEqual(['invalid'])
    expect(await observe(keys, signed(other), theirs)).toEqual(['valid'])
  })
})

describe('a token', () => {
  test('in an algorithm that the provider does not accept is invalid without a call', async () => {
    const keys = startFunction()
    issuer.rotate({ alg: 'ES384' })
    expect(await observe(keys)).toEqual(['invalid'])
    expect(await observe(keys, signed(), provider({ algorithms: ['RS256'] }))).toEqual(['invalid'])
    expect(await observe(keys, signed(), provider({ algorithms: ['ES384'] }))).toEqual(['valid', 'read', ...theFetch])
  })

  test('without a key id is valid if exactly one key fits its algorithm', async () => {
    const one = makeIssuerKey('RS256')
    const other = makeIssuerKey('ES256', 'other')
    issuer.documents.keys = { keys: [one.jwk, other.jwk] }
    const keys = startFunction()
    expect(await observe(keys, signed(one))).toEqual(['valid', 'read', ...theFetch])
    expect(await observe(keys, signed({ ...other, kid: undefined }))).toEqual(['valid'])
    issuer.documents.keys = { keys: [one.jwk, makeIssuerKey('RS256', 'more').jwk] }
    expect((await observe(startFunction(), signed(one), { ...provider(), uid: 'new' }))[0]).toBe('invalid')
  })

  test('is verified with each key of its id, up to four', async () => {
    const twins = Array.from({ length: 5 }, () => makeIssuerKey('ES256', 'twin'))
    issuer.documents.keys = { keys: twins.map(({ jwk }) => jwk) }
    const keys = startFunction()
    const verdicts = []
    for (const twin of twins) verdicts.push((await observe(keys, signed(twin)))[0])
    expect(verdicts).toEqual(['valid', 'valid', 'valid', 'valid', 'invalid'])
  })

  test.each(['kid', '../../keys', "' OR 1=1 --", '__proto__', 'constructor', 'x'.repeat(8_000), '\u0000'])(
    'with the key id %j has none of the keys',
    async (kid) => {
      const keys = startFunction()
      await observe(keys)
      time += 1
      expect(await observe(keys, signed(issuer.key, { kid }))).toEqual(['key unknown, 60 s'])
      time += minute
      expect(await observe(keys, signed(issuer.key, { kid }))).toEqual(['invalid', 'read', ...theFetch])
    },
  )
})

describe('fetched keys', () => {
  test('are written to the table, where other functions read them', async () => {
    expect(await observe(startFunction())).toEqual(['valid', 'read', ...theFetch])
    const { x, y } = issuer.key.jwk
    expect(await stored()).toEqual({
      revision: 1,
      attemptedAt: time,
      fetchedAt: time,
      freshFor: 10 * minute,
      keys: [{ kty: 'EC', crv: 'P-256', kid: 'one', alg: 'ES256', use: 'sig', x, y }],
      expires: time / 1000 + 86_400,
      swap: expect.any(String),
    })
    expect([await observe(startFunction()), fetches()]).toEqual([['valid', 'read'], 1])
  })

  test('are in memory for 5 minutes', async () => {
    const keys = await startWithKeys()
    time += 5 * minute - 1
    expect(await observe(keys)).toEqual(['valid'])
    time += 1
    expect(await observe(keys)).toEqual(['valid', 'read'])
  })

  test('are fetched again after 10 minutes, with discovery', async () => {
    await observe(startFunction())
    time += 10 * minute - 1
    expect(await observe(startFunction())).toEqual(['valid', 'read'])
    time += 1
    expect(await observe(startFunction())).toEqual(['valid', 'read', ...theFetch])
    expect(issuer.requests).toEqual({ discovery: 2, keys: 2, other: 0 })
  })

  test.each([
    ['max-age=120', 2 * minute],
    ['max-age=1', minute],
    ['no-store', minute],
    ['max-age=86400', 10 * minute],
  ])('are fresh for as long as Cache-Control says, from 1 to 10 minutes: %s', async (header, lifetime) => {
    issuer.headers = { 'Cache-Control': header }
    const keys = await startWithKeys()
    time += lifetime - 1
    expect((await observe(keys)).join()).not.toMatch(/fetched|stale/)
    time += 1
    expect(await observe(keys)).toContain('fetched')
  })

  test('are as old as the beginning of their fetch', async () => {
    const began = time
    issuer.beforeAnswer = () => {
      time += second
    }
    await observe(startFunction())
    expect(await stored()).toMatchObject({ attemptedAt: began, fetchedAt: began })
  })

  test('are those of the set that the provider names', async () => {
    const named = provider({ issuer: 'https://elsewhere.test', jwksURI: `${issuer.url}/keys` })
    expect((await observe(startFunction(), signed(), named))[0]).toBe('valid')
    expect(issuer.requests).toEqual({ discovery: 0, keys: 1, other: 0 })
  })
})

describe('when the issuer is down, keys', () => {
  // threat: exchange-21
  test('are used for 60 minutes, with one attempt a minute', async () => {
    const keys = await startWithKeys()
    issuer.faults = { discovery: 'failing' }
    const failed = 'failed: the issuer answered with HTTP status 500'
    time += 10 * minute
    expect(await observe(keys)).toEqual(['valid', 'read', 'write', failed, 'stale 600'])
    time += minute - 1
    expect(await observe(keys)).toEqual(['valid', 'stale 659'])
    time += 1
    expect(await observe(keys)).toEqual(['valid', 'read', 'write', failed, 'stale 660'])
    time += 49 * minute - 1
    expect(await observe(keys)).toEqual(['valid', 'read', 'write', failed, 'stale 3599'])
    time += 1
    expect(await observe(keys)).toEqual(['keys unknown, 60 s'])
    expect(await observe(startFunction())).toEqual(['keys unknown, 8 s', 'read', ...theWait])
    issuer.faults = {}
    time += minute
    expect((await observe(keys))[0]).toBe('valid')
  })

  test('are unavailable if there have never been any, and failures count as attempts', async () => {
    issuer.faults = { keys: 'page' }
    const keys = startFunction()
    const failed = 'failed: the answer of the issuer is not JSON'
    expect(await observe(keys)).toEqual(['keys unknown, 60 s', 'read', 'write', failed])
    issuer.faults = {}
    time += minute - 1
    expect(await observe(keys)).toEqual(['keys unknown, 1 s'])
    expect(await observe(startFunction())).toEqual(['keys unknown, 1 s', 'read'])
    time += 1
    expect([await observe(keys), fetches()]).toEqual([['valid', 'read', ...theFetch], 2])
  })

  test('are not replaced after an unknown key id', async () => {
    const keys = startFunction()
    const known = signed()
    await observe(keys)
    time += minute
    issuer.faults = { keys: 'reset' }
    const unknown = signed(makeIssuerKey('ES256', 'two'))
    expect(await observe(keys, unknown)).toEqual(['key unknown, 60 s', 'read', 'write', 'failed: reset'])
    expect(await observe(keys, known)).toEqual(['valid'])
    expect(await kids()).toEqual(['one'])
  })

  test('are unavailable within the time limits when it answers slowly', async () => {
    issuer.faults = { discovery: 'slow' }
    const keys = startFunction((ms) => AbortSignal.timeout(ms / 20))
    expect(await observe(keys)).toEqual(['keys unknown, 60 s', 'read', 'write', 'failed: timeout'])
  })
})

describe('a key set that', () => {
  const replaceKeys = (...entries: unknown[]) => {
    issuer.documents.keys = { keys: entries }
  }
  const cases: [string, () => void, string][] = [
    ['is empty', () => replaceKeys(), 'the issuer has no usable keys'],
    ['has only keys of other algorithms', () => replaceKeys(makeIssuerKey('ES512').jwk), 'has no usable keys'],
    ['has a bad entry only', () => replaceKeys({ kty: 'RSA', kid: 'one' }), 'has no usable keys'],
    ['has a private key', () => replaceKeys(issuer.key.privateKey.export({ format: 'jwk' })), 'private'],
    ['has too many keys', () => replaceKeys(...Array(101).fill(issuer.key.jwk)), 'at most 100 keys'],
    ['belongs to another issuer', () => nameIssuer('https://other.test'), 'names another issuer'],
  ]
  // threat: exchange-21
  test.each(cases)('%s never replaces a good one', async (_, replace, failure) => {
    const keys = startFunction()
    const token = signed()
    await observe(keys)
    time += 10 * minute
    replace()
    const seen = await observe(keys, token)
    expect(seen).toEqual(['valid', 'read', 'write', expect.stringContaining(failure), 'stale 600'])
    expect([await kids(), (await observe(startFunction(), token))[0]]).toEqual([['one'], 'valid'])
  })

  test('has a bad entry loses that entry only', async () => {
    replaceKeys({ kty: 'RSA', kid: 'bad', n: '!', e: 'AQAB' }, issuer.key.jwk)
    expect([(await observe(startFunction()))[0], await kids()]).toEqual(['valid', ['one']])
  })

  // threat: exchange-21
  test('no longer has a key ends its tokens at the next fetch', async () => {
    const keys = startFunction()
    const token = signed()
    await observe(keys)
    issuer.rotate({ kid: 'two' })
    time += 10 * minute
    expect((await observe(keys, token))[0]).toBe('invalid')
  })
})

describe('a token that no known key has signed', () => {
  test.each<[string, (key: IssuerKey) => IssuerKey]>([
    ['because its key is new', () => issuer.rotate({ kid: 'two' })],
    ['because a new key took over the id of the old one', () => issuer.rotate({ kid: 'one' })],
    ['and that names no key, because its key is new', () => ({ ...issuer.rotate({ kid: 'two' }), kid: undefined })],
  ])('%s, is valid after one fetch', async (_, rotate) => {
    const keys = await startWithKeys()
    const token = signed(rotate(issuer.key))
    time += minute
    expect(await observe(keys, token)).toEqual(['valid', 'read', ...theFetch])
    expect([await observe(keys, token), fetches()]).toEqual([['valid'], 2])
  })

  // threat: exchange-20
  test('costs no write and no wait for a minute after a fetch, and is invalid or names the next fetch', async () => {
    const keys = startFunction()
    await observe(keys)
    const forged = forge()
    for (let count = 0; count < 59; count++) {
      time += second
      expect(await observe(keys, count % 2 ? forged : signed(makeIssuerKey('ES256', `kid ${count}`)))).toEqual([
        count % 2 ? 'invalid' : `key unknown, ${59 - count} s`,
      ])
    }
    expect(fetches()).toBe(1)
  })

  test('costs one fetch a minute, however many functions get it', async () => {
    const functions = Array.from({ length: 5 }, () => startFunction())
    const stranger = makeIssuerKey('ES256', 'one')
    const began = time
    for (let count = 0; time - began < 10 * minute; count++) {
      await observe(functions[count % 5] as IssuerKeys, signed(stranger))
      time += 700
    }
    expect(fetches()).toBeLessThanOrEqual(10)
    expect(fetches()).toBeGreaterThan(5)
  })

  test('is verified first with what others have fetched', async () => {
    const keys = await startWithKeys()
    time += 2 * minute
    issuer.rotate({ kid: 'two' })
    await observe(startFunction(), signed())
    time += 2 * minute
    expect([await observe(keys, signed()), fetches()]).toEqual([['valid', 'read'], 2])
  })

  test('is verified with keys that are newer than what others have fetched', async () => {
    const keys = await startWithKeys()
    time += minute
    issuer.rotate({ kid: 'two' })
    await observe(startFunction(), signed())
    time += 2 * minute
    issuer.rotate({ kid: 'three' })
    expect(await observe(keys, signed())).toEqual(['valid', 'read', ...theFetch])
  })
})

describe('a change of the provider', () => {
  // threat: exchange-21
  test('voids memory and table at once', async () => {
    const keys = await startWithKeys()
    const changed = provider({}, 2)
    expect(await observe(keys, signed(), changed)).toEqual(['valid', 'read', ...theFetch])
    expect((await stored())?.revision).toBe(2)
    issuer.faults = { keys: 'failing' }
    expect(await observe(keys, signed(), provider({}, 3))).toEqual([
      'keys unknown, 60 s',
      'read',
      'write',
      'failed: the issuer answered with HTTP status 500',
    ])
    expect(await kids()).toBeUndefined()
  })

  test('is not undone by a function that has read the provider before', async () => {
    const keys = startFunction()
    await observe(keys, signed(), provider({}, 2))
    time += 20 * minute
    expect(await observe(startFunction())).toEqual(['keys unknown, 1 s', 'read'])
    expect((await stored())?.revision).toBe(2)
    expect(fetches()).toBe(1)
  })

  test('does not meet the keys of another provider with the same name', async () => {
    const keys = await startWithKeys()
    const again = { ...provider(), uid: 'another uid' }
    expect(await observe(keys, signed(), again)).toEqual(['valid', 'read', ...theFetch])
  })
})

describe('several functions', () => {
  test('fetch once, and the others wait for the keys', async () => {
    const first = startFunction()
    const second = startFunction()
    let other: Promise<unknown[]> | undefined
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    issuer.beforeAnswer = async () => {
      if (other) return
      other = observe(second)
      await released
    }
    during = async () => {
      release()
      await mine
    }
    const mine = first.verify(provider(), signed())
    expect([await mine, await other]).toEqual(['valid', ['valid', 'read', 'wait 250', 'write', 'fetched', 'read']])
    expect(fetches()).toBe(1)
  })

  test('continue with what they have when a function dies during its fetch', async () => {
    const keys = await startWithKeys()
    time += 10 * minute
    await dyingFetch()
    const token = signed()
    const unknown = signed(makeIssuerKey('ES256', 'two'))
    expect(await observe(keys, token)).toEqual(['valid', 'read', 'stale 600'])
    expect(await observe(keys, unknown)).toEqual(['key unknown, 8 s', 'stale 600', ...theWait])
    // It has waited for this fetch, and waits no more.
    expect(await observe(keys, unknown)).toEqual(['key unknown, 8 s', 'stale 602'])
    time += 2 * second
    expect(await observe(keys, unknown)).toEqual(['key unknown, 6 s', 'read', 'stale 604'])
    time += 10 * second
    expect(await observe(keys, unknown)).toEqual(['key unknown, 46 s', 'stale 614'])
    time += minute
    expect([await observe(keys, unknown), fetches()]).toEqual([['invalid', 'read', ...theFetch], 2])
  })

  /** A function announces a fetch and is never heard of again. */
  async function dyingFetch(): Promise<void> {
    const before = await getCompanion(storage, { pk: `jwks#${uid}`, sk: '#' })
    const attributes = { ...before?.attributes, revision: 1, attemptedAt: time }
    await storage.writeCompanion(
      { pk: `jwks#${uid}`, sk: '#', attributes, when: { is: before } },
      { deadline: () => 1000 },
    )
  }

  test('are unavailable after a wait when a function dies during the first fetch', async () => {
    await dyingFetch()
    const keys = startFunction()
    expect(await observe(keys)).toEqual(['keys unknown, 8 s', 'read', ...theWait])
    time += minute
    expect(await observe(keys)).toEqual(['valid', 'read', ...theFetch])
  })

  // threat: exchange-21
  test('keep the newer keys when an old fetch ends late', async () => {
    const slow = startFunction()
    const old = issuer.key
    const { promise: resumed, resolve: resume } = Promise.withResolvers<void>()
    const reached = new Promise<void>((resolve) => {
      issuer.beforeAnswer = (document) => {
        if (document !== 'keys') return
        resolve()
        issuer.beforeAnswer = () => undefined
        return resumed
      }
    })
    issuer.documents.keys = { toJSON: () => ({ keys: [old.jwk] }) }
    const frozen = slow.verify(provider(), signed(old))
    await reached
    time += minute
    issuer.rotate({ kid: 'two' })
    expect([(await observe(startFunction()))[0], await kids()]).toEqual(['valid', ['two']])
    issuer.documents.keys = { keys: [old.jwk] }
    resume()
    expect([await frozen, await kids()]).toEqual(['invalid', ['two']])
  })

  test('with clocks that differ by half a minute fetch once a minute', async () => {
    const ahead = startFunction()
    time += 30 * second
    await observe(ahead)
    time -= 30 * second
    expect([(await observe(startFunction(), forge()))[0], fetches()]).toEqual(['invalid', 1])
  })

  test('do not repeat the failed fetch of another one', async () => {
    const keys = await startWithKeys()
    time += 2 * minute
    issuer.faults = { keys: 'failing' }
    await observe(startFunction(), forge())
    time += 15 * second
    expect([await observe(keys, forge()), fetches()]).toEqual([['invalid', 'read'], 2])
  })

  test('ignore the times of one whose clock is a day ahead', async () => {
    time += 1440 * minute
    await observe(startFunction())
    time -= 1440 * minute
    issuer.rotate({ kid: 'two' })
    expect(await observe(startFunction())).toEqual(['valid', 'read', ...theFetch])
  })

  // threat: exchange-20
  test('in 64 places at once cause one fetch for an unknown key id', async () => {
    const store = await openStore()
    try {
      time = Date.now()
      const { destinations, certificateAuthority } = issuer
      let fetched = 0
      const { promise: isRefetched, resolve: refetched } = Promise.withResolvers<void>()
      const start = () =>
        createIssuerKeys({
          storage: storageIn(store.items()),
          fetch: (source) => fetchKeys({ destinations, certificateAuthority, timeout: unlimited }, source),
          observer: {
            fetched() {
              if (++fetched === 2) refetched()
            },
            stale: () => undefined,
          },
          now: () => Date.now() + ahead,
          sleep: () => isRefetched,
        })
      let ahead = 0
      const functions = Array.from({ length: 64 }, start)
      expect(await functions[0]?.verify(provider(), signed())).toBe('valid')
      for (const one of functions) expect(await one.verify(provider(), signed())).toBe('valid')
      expect([fetches(), fetched]).toEqual([1, 1])
      issuer.rotate({ kid: 'two' })
      ahead = minute
      const token = signed()
      const verdicts = await Promise.all(functions.map((one) => one.verify(provider(), token)))
      expect([...new Set(verdicts)]).toEqual(['valid'])
      expect([fetches(), fetched]).toEqual([2, 2])
    } finally {
      await store.close()
    }
  })
})

describe('when the table fails', () => {
  const failing = (name: string, nth = 1) => {
    let count = 0
    calling = (call) => {
      if (call === name && ++count === nth) throw new StorageError('Unavailable', 'the table does not answer')
    }
  }

  test('a token is verified with the keys just fetched, although they cannot be written', async () => {
    failing('write', 2)
    const keys = startFunction()
    expect(await observe(keys)).toEqual(['valid', 'read', 'write', 'write', 'failed: the table does not answer'])
    expect([await observe(keys), await kids()]).toEqual([['valid'], undefined])
  })

  test.each(['read', 'write'])('the error of a %s is passed on, and nothing is fetched', async (call) => {
    failing(call)
    await expect(startFunction().verify(provider(), signed())).rejects.toMatchObject({ code: 'Unavailable' })
    expect(fetches()).toBe(0)
  })

  test('keys in memory need no table', async () => {
    const keys = await startWithKeys()
    calling = () => {
      throw new StorageError('Unavailable', 'the table does not answer')
    }
    expect(await observe(keys)).toEqual(['valid'])
  })
})
