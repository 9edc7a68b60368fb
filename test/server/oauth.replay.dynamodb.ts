/**
 * Tests that an ID token gives one key, whatever happens: at the same time, over a network that fails, and when the function is
 * killed between any two calls. A key and the record of its token exist together or not at all.
 */

import { type DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { itemsIn } from '../../lib/engine/storage/dynamodb/dynamodb.ts'
import type { Storage } from '../../lib/engine/storage/interface.ts'
import { exchange } from '../../lib/federation/exchange/exchange.ts'
import { parseIdToken, replayId } from '../../lib/federation/idtoken.ts'
import { decodeForm } from '../../lib/federation/oauth/form.ts'
import type { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import { storeOf } from '../../lib/server/kindstores.ts'
import { randomFrom } from '../lib/engine/storage/adversary/simulation.ts'
import type { Fault } from '../support/badnetwork.ts'
import { useBadNetwork } from '../support/badserver.ts'
import { endless } from '../support/deadlines.ts'
import { seed } from '../support/effort.ts'
import { exchangeParts } from '../support/exchangeparts.ts'
import { exchangeForm, type Federation, sendForm, startFederation, tokenPath, trusts } from '../support/federation.ts'
import { apiVersion, clusters, keys, management } from '../support/objects.ts'
import { messageOf, saying } from '../support/refusals.ts'
import type { Answer } from '../support/request.ts'
import { mergePatch } from '../support/request.ts'
import { storageIn } from '../support/store.ts'

// The collector does not run, which would remove the key of a deleted trust before its next request says why it is refused.
const { server, network, dynamodb, clear } = useBadNetwork(randomFrom(seed))
let federation: Federation
let client: string
/** A trust that may give tokens of the clusters prod and staging. */
let targeted: string
beforeAll(async () => {
  federation = await startFederation(server)
  client = await federation.trust('shop-deploy')
  const names = ['prod', 'staging']
  const access = [{ verbs: ['create'], subresources: ['kubeconfig'], teams: ['shop'] }]
  for (const name of names) {
    const spec = { server: `https://${name}.example.com`, access }
    await server.make(clusters, { apiVersion, kind: 'Cluster', metadata: { name }, spec })
  }
  const scope = { clusters: names.map((cluster) => ({ cluster })) }
  targeted = await federation.trust('shop-deploy-cluster', { scope })
})
afterAll(() => federation?.close())

/** Returns the names of the keys of the trust, and of those that records of ID tokens name, from the table itself. */
async function stored(): Promise<{ rows: string[]; credentials: string[]; records: Map<string, string> }> {
  const rows: string[] = []
  const credentials: string[] = []
  const records = new Map<string, string>()
  const table = { TableName: server.store.dynamodb.table, ConsistentRead: true }
  for await (const { Items = [] } of paginateScan({ client: dynamodb.client }, table)) {
    for (const { pk, sk, name, key, gone } of Items) {
      const isRow = pk?.S === 'ownedaccesskeys#o' && sk?.S?.startsWith('shop-deploy-') && !gone
      if (isRow) rows.push(sk?.S ?? '')
      if (pk?.S?.startsWith('credential#') && name?.S?.startsWith('shop-deploy-')) credentials.push(name.S)
      if (pk?.S?.startsWith('exchange#')) records.set(pk.S.slice('exchange#'.length), key?.S ?? '')
    }
  }
  return { rows: rows.sort(), credentials: credentials.sort(), records }
}

/** Checks that each key has a credential and the record of its token, and each record and credential a key. */
async function expectWhole(): Promise<void> {
  const { rows, credentials, records } = await stored()
  expect([credentials, [...records.values()].sort()]).toEqual([rows, rows])
}

/** Returns the key that was made with the token. */
const keyOf = async (token: string) => (await stored()).records.get(replayId(parseIdToken(token)))

const reasonOf = (answer: Answer) => server.auditOf(answer)?.reason

/** Returns the answers of requests that were done. A slow machine does not admit all, and says so. */
const admitted = (answers: readonly Answer[]) => answers.filter(({ status }) => status !== 429 && status !== 503)

// threat: exchange-29
test('64 concurrent exchanges of one token give one key', async () => {
  const token = federation.sign()
  const before = (await stored()).rows.length
  const answers = await Promise.all(Array.from({ length: 64 }, () => federation.exchange(client, token)))
  const accepted = answers.filter(({ status }) => status === 200)
  expect(accepted).toHaveLength(1)
  expect(new Set(admitted(answers).map(reasonOf))).toEqual(new Set(['exchanged', 'replayed']))
  expect((await stored()).rows).toHaveLength(before + 1)
  const self = { method: 'POST', body: {}, token: accepted[0]?.json.access_token }
  expect((await server.call(`${management}/selves`, self)).status).toBe(201)
  await expectWhole()
})

describe('killed', () => {
  /** Never resolves, as for a process that is gone. */
  const gone = new Promise<never>(() => {})

  /** Returns storage whose process dies at a call: before it is sent, or before its answer arrives. */
  function mortalStorage(
    calls: number,
    isSent: boolean,
  ): { storage: Storage; died: Promise<'died'>; sdk: DynamoDBClient } {
    const sdk = dynamodb.connect()
    const { promise: died, resolve: die } = Promise.withResolvers<'died'>()
    let made = 0
    const middleware = (next: (args: object) => Promise<object>) => async (args: object) => {
      if (made++ < calls) return next(args)
      if (isSent) await next(args)
      die('died')
      return gone
    }
    sdk.middlewareStack.add(middleware as never, { step: 'finalizeRequest', priority: 'low', name: 'mortal' })
    const { table } = server.store.dynamodb
    return { storage: storageIn(itemsIn(sdk, table, Date.now)), died, sdk }
  }

  const places = [0, 1, 2, 3].flatMap((calls) => [false, true].map((isSent) => ({ calls, isSent })))
  // threat: exchange-29
  test.each(places)('at call $calls, which was sent: $isSent, nothing is half made', async ({ calls, isSent }) => {
    const token = federation.sign()
    const { storage, died, sdk } = mortalStorage(calls, isSent)
    // biome-ignore lint/suspicious/noExplicitAny: the parts of a server that the exchange uses.
    const mortal: any = Object.create(server.parts, {
      storage: { value: storage },
      storeOf: { value: (kind: typeof OwnedAccessKey) => storeOf(kind, mortal) },
      issuerKeys: { value: { verify: async () => 'valid' } },
      log: { value: () => undefined },
    })
    const form = new Map(new URLSearchParams(exchangeForm(client, token)))
    const call = { requestId: '', headers: {}, form, now: new Date(), deadline: endless, note: () => undefined }
    expect(await Promise.race([exchange(call, mortal).then(({ outcome }) => outcome), died])).toBe('died')
    const isMade = calls === 3 && isSent
    expect(await keyOf(token)).toEqual(isMade ? expect.stringMatching(/^shop-deploy-/) : undefined)
    await expectWhole()
    // The next attempt with the same token finds the truth.
    expect(reasonOf(await federation.exchange(client, token))).toBe(isMade ? 'replayed' : 'exchanged')
    await expectWhole()
    sdk.destroy()
  })
})

describe('killed while it makes a token', () => {
  /** Never resolves, as for a process that is gone. */
  const gone = new Promise<never>(() => {})
  const target = { audience: 'clusters/prod' }

  /** The calls of an exchange: what was read, the signature, the commit, the record of the use. */
  const places = ['read', 'sign', 'signed', 'written', 'answered'] as const
  // threat: exchange-41
  test.each(places.flatMap((place) => [1, 2].map((count) => ({ place, count }))))(
    'at $place for $count, no token lives without a key, and no key gives anybody access',
    async ({ place, count }) => {
      const audiences = ['clusters/prod', 'clusters/staging'].slice(0, count)
      const headers = { accept: count > 1 ? 'application/yaml;as=KubeConfig' : 'application/json' }
      const token = federation.sign()
      const { promise: died, resolve: die } = Promise.withResolvers<'died'>()
      const stop = () => {
        die('died')
        return gone
      }
      const before = (await stored()).rows
      const { signer } = server.parts.tokens
      let signed: string | undefined
      const mortalSigner = {
        ...signer,
        async sign(kid: string, bytes: Uint8Array) {
          if (place === 'sign') return stop()
          const signature = await signer.sign(kid, bytes)
          signed = `${Buffer.from(bytes)}.${Buffer.from(signature).toString('base64url')}`
          return place === 'signed' ? stop() : signature
        },
      }
      const { storage } = server.parts
      const mortalStorage: Storage = {
        ...storage,
        get: async (...read) => (place === 'read' ? stop() : storage.get(...read)),
        getMany: async (...read) => (place === 'read' ? stop() : storage.getMany(...read)),
        async update(...write) {
          const made = await storage.update(...write)
          return place === 'written' ? stop() : made
        },
      }
      // biome-ignore lint/suspicious/noExplicitAny: the parts of a server that the exchange uses.
      const mortal: any = Object.create(server.parts, {
        storage: { value: mortalStorage },
        storeOf: { value: (kind: typeof OwnedAccessKey) => storeOf(kind, mortal) },
        tokens: { value: { ...server.parts.tokens, signer: mortalSigner } },
        ...exchangeParts(mortalStorage),
        usage: { value: { used: async () => (place === 'answered' ? stop() : undefined) } },
      })
      const body = exchangeForm(targeted, token) + audiences.map((one) => `&audience=${one}`).join('')
      const form = decodeForm(body)
      const call = { requestId: '', headers, form, now: new Date(), deadline: endless, note: () => undefined }
      expect(await Promise.race([exchange(call, mortal).then(({ outcome }) => outcome), died])).toBe('died')
      const isMade = place === 'written' || place === 'answered'
      const after = await stored()
      const made = after.rows.filter((row) => !before.includes(row))
      expect(made).toHaveLength(isMade ? 1 : 0)
      await expectWhole()
      if (signed !== undefined) {
        // The token left nothing but the memory of the process, and without a key no cluster accepts it.
        const { key } = decodeJwt(signed)['management.platform'] as { key: { name: string } }
        expect((await server.call(`${keys}/${key.name}`)).status).toBe(isMade ? 200 : 404)
        const self = { method: 'POST', body: {}, token: signed }
        expect((await server.call(`${management}/selves`, self)).status).toBe(401)
      }
      expect(reasonOf(await sendForm(server, tokenPath, body, headers))).toBe(isMade ? 'replayed' : 'exchanged')
    },
  )

  // threat: exchange-41
  test('64 exchanges of one ID token give one token if it is exchanged once', async () => {
    const token = federation.sign()
    const before = (await stored()).rows.length
    const answers = await Promise.all(Array.from({ length: 64 }, () => federation.exchange(targeted, token, target)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(new Set(admitted(answers).map(reasonOf))).toEqual(new Set(['exchanged', 'replayed']))
    expect((await stored()).rows).toHaveLength(before + 1)
    await expectWhole()
  })
})

describe('over a network that fails', () => {
  const faults: readonly Fault[] = ['throttled', 'lost', 'unanswered', 'conflict', 'broken']

  test('a token still gives one key at most, and every answer is true', async () => {
    network.weather = { share: 0.2, faults }
    const tokens = Array.from({ length: 12 }, () => federation.sign())
    const asked = tokens.flatMap((token) => [token, token, token])
    const answers = await Promise.all(
      asked.map(async (token) => ({ token, answer: await federation.exchange(client, token) })),
    )
    clear()
    expect([...network.met.keys()]).toEqual(expect.arrayContaining(['unanswered', 'lost']))
    for (const { token, answer } of answers) {
      // A slow machine does not admit all of them, and says so.
      expect([200, 400, 429, 503]).toContain(answer.status)
      if (answer.status === 400) expect(reasonOf(answer)).toBe('replayed')
      if (answer.status === 503) expect(answer.json.error).toBe('temporarily_unavailable')
      if (answer.status !== 200) continue
      const self = { method: 'POST', body: {}, token: answer.json.access_token }
      expect((await server.call(`${management}/selves`, self)).status).toBe(201)
      expect(await keyOf(token)).toBeDefined()
    }
    for (const token of tokens) {
      const accepted = answers.filter((one) => one.token === token && one.answer.status === 200)
      expect(accepted.length).toBeLessThanOrEqual(1)
    }
    await expectWhole()
  })

  test.each(['lost', 'unanswered'] as const)(
    'every write of which is %s, an exchange leaves nothing half made',
    async (fault) => {
      const token = federation.sign()
      network.weather = { share: 1, faults: [fault], operations: ['TransactWriteItems'] }
      const answer = await federation.exchange(client, token)
      clear()
      if (fault === 'unanswered') expect([200, 503]).toContain(answer.status)
      else expect([answer.status, answer.json.error]).toEqual([503, 'temporarily_unavailable'])
      await expectWhole()
    },
  )

  // threat: exchange-50
  test('a revocation is a 503 when the store fails, so that a job does not take its key for ended', async () => {
    const { json } = await federation.exchange(client, federation.sign())
    network.weather = { share: 1, faults: ['lost'] }
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = `token=${json.access_token}`
    const answer = await server.call('/oauth2/revoke', { method: 'POST', token: '', body, headers })
    expect([answer.status, answer.json.error]).toEqual([503, 'temporarily_unavailable'])
    expect(answer.headers['retry-after']).toBe('5')
    clear()
    expect((await server.call('/oauth2/revoke', { method: 'POST', token: '', body, headers })).status).toBe(200)
    expect((await server.call(keys, { token: json.access_token })).status).toBe(401)
  })
})

test.each(['DELETE', 'PATCH'])(
  'a trust that a %s ends during an exchange gives a key without access',
  async (method) => {
    const id = await federation.trust(`racing-${method.toLowerCase()}`)
    const path = `${trusts}/${id.split('@')[0]}`
    const end = () => server.call(path, method === 'PATCH' ? mergePatch({ spec: { disabled: true } }) : { method })
    const racing = Object.create(server.parts, {
      // The trust has been read, and ends while its token is verified.
      issuerKeys: { value: { verify: async () => ((await end()).status === 200 ? 'valid' : 'invalid') } },
      log: { value: () => undefined },
    })
    const form = new Map(new URLSearchParams(exchangeForm(id, federation.sign())))
    const call = { requestId: '', headers: {}, form, now: new Date(), deadline: endless, note: () => undefined }
    const { response } = await exchange(call, racing)
    const self = { method: 'POST', body: {}, token: JSON.parse(String(response.body)).access_token }
    expect(messageOf(await server.call(`${management}/selves`, self))).toEqual(
      saying(401, /has been deleted$|is disabled$/),
    )
  },
)
