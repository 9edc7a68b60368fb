/** Tests what each caller of `admit` lets a key do: a caller for each row, and for each step what the store has afterwards. */
import { describe, expect, test } from 'vitest'
import { sampleEvent } from '../../events/sample.ts'
import type { UserInfo } from '../../lib/access/users/user.ts'
import { extrasOf } from '../../lib/clusters/token/extras.ts'
import type { JsonObject } from '../../lib/engine/meta/types.ts'
import { getCompanion } from '../../lib/engine/storage/readcompanions.ts'
import { credentialItemKey } from '../../lib/keys/credential/credential.ts'
import { usagePartition } from '../../lib/keys/credential/keptitems.ts'
import { readUsage } from '../../lib/keys/usage/items.ts'
import { type Json, useFunctions } from '../support/functions.ts'
import { alice, withScopes } from '../support/users.ts'
import { accessKeys, callsOf } from './stored/fixtures.ts'

const functions = useFunctions({ RECORD_USAGE: 'true' })
const { make, call } = callsOf(functions, accessKeys)

interface Key {
  name: string
  uid: string
  token: string
}

const eu = { type: 'cluster', name: 'eu' } as const
/** What the keys of these tests may do: get themselves, create the namespace p-web, and act in a cluster. */
const scopeOf = (name: string) => ({
  rules: [
    {
      verbs: ['get'],
      resources: [{ group: 'management.platform', resources: ['ownedaccesskeys'], resourceNames: [name] }],
    },
  ],
  projects: [{ project: 'web' }],
  clusters: [{ cluster: 'eu' }],
})
const agent: UserInfo = {
  ...withScopes(alice, { roles: [{ role: 'agent' }], clusters: [{ cluster: 'eu' }] }),
  mayReview: true,
}

let count = 0
async function makeKey(): Promise<Key> {
  const name = `judged-${++count}`
  const { metadata, spec } = await make({ name }, { user: 'alice', scope: scopeOf(name) })
  return { name, uid: metadata.uid, token: spec.key }
}

/** Gives the key a new value, which is pending. */
async function rotated(key: Key): Promise<Key> {
  const { json } = await call('rotate', { parameters: { name: key.name }, body: { spec: { overlapSeconds: 60 } } })
  return { ...key, token: json.status.key }
}

async function itemOf({ token }: Key): Promise<JsonObject | undefined> {
  const { storage, keys } = functions.get().parts
  for (const hash of await keys.hashes(token)) {
    const { pk, sk } = credentialItemKey(hash)
    const item = await getCompanion(storage, { pk, sk })
    if (item) return item.attributes
  }
  return undefined
}

async function usageOf({ uid }: Key) {
  const { storage, scopes } = functions.get().parts
  const { items } = await storage.queryCompanions(usagePartition(uid))
  const { entries, accepted, refused } = readUsage(items, scopes)
  return { used: entries.length, accepted: accepted.length, refused: refused.length }
}

/** Returns the user of the key, as the authorizer passes it on, without a use of the key. */
async function userOf({ token }: Key): Promise<UserInfo> {
  const found = await functions.get().parts.authenticate(token)
  if (!('user' in found)) throw new Error('not authenticated')
  return { ...found.user, credential: found.credential }
}

const authorize = (token: string, change: (event: Json) => Json) =>
  functions.run('authorizer', (event: Json) => {
    const asked = change(event)
    return { ...asked, multiValueHeaders: { ...asked.multiValueHeaders, Authorization: [`Bearer ${token}`] } }
  })

const create = async (name: string, user: UserInfo, spec: object, query: Record<string, string>) => {
  const { apiVersion, kind } = JSON.parse(sampleEvent(name).body)
  const { status, json } = await functions.invoke(name, {
    user,
    query,
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: { apiVersion, kind, metadata: {}, spec },
  })
  expect([status, json.message]).toEqual([201, undefined])
  return json.status
}

/** Lets the caller judge the key. `isOutside`: for something that its scopes refuse. Returns whether it was allowed. */
type Caller = (key: Key, query: Record<string, string>, isOutside: boolean) => Promise<boolean>

const callers = {
  authorizer: async ({ name, token }, _, isOutside) => {
    const asked = { httpMethod: isOutside ? 'DELETE' : 'GET', pathParameters: { name } }
    const { context } = await authorize(token, (event) => ({ ...event, ...asked }))
    return context.user !== undefined
  },
  'authorizer, of a review': async ({ token }, _, isOutside) => {
    const path = isOutside
      ? 'authentication.k8s.io/v1/tokenreviews'
      : 'authorization.k8s.io/v1/selfsubjectaccessreviews'
    const name = isOutside ? 'reviews/tokenreview' : 'reviews/selfsubjectaccessreview'
    const { resource, httpMethod } = sampleEvent(name)
    expect(resource).toContain(path)
    const { context } = await authorize(token, (event) => ({ ...event, resource, httpMethod, pathParameters: null }))
    expect(context.user).toBeDefined()
    return !context.reason.includes('does not allow')
  },
  'authorizer, of a path that is not served': async ({ token }, _, isOutside) => {
    const path = isOutside ? 'nowhere' : 'healthz'
    const asked = { resource: '/{proxy+}', path: `/${path}`, pathParameters: { proxy: path } }
    const { context } = await authorize(token, (event) => ({ ...event, ...asked }))
    return context.user !== undefined
  },
  'a request beside': async (key, query, isOutside) => {
    const name = isOutside ? 'p-shop' : 'p-web'
    const { status } = await functions.invoke('namespaces/patch', {
      user: await userOf(key),
      query,
      parameters: { name },
      headers: { accept: 'application/json', 'content-type': 'application/merge-patch+json' },
      body: {},
    })
    return status === 200
  },
  'a lookup': async (key, query, isOutside) => {
    const { token } = isOutside ? await makeKey() : key
    const { name } = await create('accesskeylookups/create', await userOf(key), { key: token }, query)
    return name !== undefined
  },
  'a TokenReview': async ({ token }, query, isOutside) => {
    const { issuer } = functions.get().parts
    const audiences = [`${issuer}/clusters/${isOutside ? 'us' : 'eu'}`]
    return (await create('reviews/tokenreview', agent, { token, audiences }, query)).authenticated === true
  },
  'a SubjectAccessReview': async (key, query, isOutside) => {
    const user = await userOf(key)
    const chain = isOutside ? [{ clusters: [{ cluster: 'us' }] }] : user.chain
    const extra = extrasOf({ ...user, chain }, eu, new Date())
    const resourceAttributes = { verb: 'list', resource: 'pods', namespace: 'x' }
    const spec = { user: 'alice', extra, resourceAttributes }
    return (await create('reviews/subjectaccessreview', agent, spec, query)).denied !== true
  },
  Self: async ({ token }, query) =>
    (await create('selves/create', alice, { accessKey: token }, query)).uid !== undefined,
  'can-i': async (key, query, isOutside) => {
    const resourceAttributes = { verb: isOutside ? 'delete' : 'get', resource: 'ownedaccesskeys', name: key.name }
    const spec = { resourceAttributes: { group: 'management.platform', ...resourceAttributes } }
    return (await create('reviews/selfsubjectaccessreview', await userOf(key), spec, query)).allowed
  },
} as const satisfies Record<string, Caller>

interface Cells {
  judge: boolean
  confirm: boolean
  touch: boolean
  /** How many requests, and acceptances by a cluster, the usage of the key has. */
  used: number
  accepted: number
  refused: number
  /** Whether a dry run does all of this too. */
  dryRun: boolean
}

const none = { judge: true, confirm: false, touch: false, used: 0, accepted: 0, refused: 0, dryRun: true }

const cells: Readonly<Record<keyof typeof callers, Cells>> = {
  authorizer: { ...none, confirm: true, touch: true, used: 1, refused: 1 },
  // What every scope allows is in no usage.
  'authorizer, of a review': { ...none, confirm: true, touch: true, refused: 1 },
  'authorizer, of a path that is not served': { ...none, confirm: true, touch: true },
  'a request beside': { ...none, used: 1 },
  'a lookup': { ...none, used: 1 },
  'a TokenReview': { ...none, confirm: true, touch: true, accepted: 1, dryRun: false },
  'a SubjectAccessReview': { ...none, used: 1, refused: 1, dryRun: false },
  Self: { ...none, judge: false, touch: true, dryRun: false },
  'can-i': none,
}

describe.each(Object.keys(callers) as (keyof typeof callers)[])('%s', (name) => {
  const caller: Caller = callers[name]
  const { judge, confirm, touch, used, accepted, refused, dryRun } = cells[name]
  const nothing = { used: 0, accepted: 0, refused: 0 }

  test.each([false, true])('records what is allowed (dry run: %s)', async (isDryRun) => {
    const isRecorded = dryRun || !isDryRun
    const key = await makeKey()
    expect(await caller(key, isDryRun ? { dryRun: 'All' } : {}, false)).toBe(true)
    expect((await itemOf(key))?.lastActivity !== undefined).toBe(touch && isRecorded)
    expect(await usageOf(key)).toEqual(isRecorded ? { used, accepted, refused: 0 } : nothing)
  })

  test.each([false, true])('records what is refused (dry run: %s)', async (isDryRun) => {
    const key = await makeKey()
    expect(await caller(key, isDryRun ? { dryRun: 'All' } : {}, true)).toBe(!judge)
    expect((await itemOf(key))?.lastActivity !== undefined).toBe(!judge && touch && !isDryRun)
    expect(await usageOf(key)).toEqual(dryRun || !isDryRun ? { ...nothing, refused } : nothing)
  })

  test.each([false, true])('confirms the first use of a new value (dry run: %s)', async (isDryRun) => {
    const key = await rotated(await makeKey())
    expect(await caller(key, isDryRun ? { dryRun: 'All' } : {}, false)).toBe(true)
    expect((await itemOf(key))?.firstUsed !== undefined).toBe(confirm && (dryRun || !isDryRun))
  })
})

test('nothing is recorded of a user who presents no key', async () => {
  const before = await functions.get().store.all()
  const { status } = await functions.invoke('namespaces/patch', {
    user: withScopes(alice, { projects: [{ project: 'web' }] }),
    parameters: { name: 'p-web' },
    headers: { accept: 'application/json', 'content-type': 'application/merge-patch+json' },
    body: {},
  })
  expect(status).toBe(200)
  expect(await functions.get().store.all()).toEqual(before)
})
