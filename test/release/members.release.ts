/** Records with members that a release does not know, read and written by the functions of both releases. */
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../lib/engine/meta/types.ts'
import type { ItemKey } from '../../lib/engine/storage/keys.ts'
import { getCompanion } from '../../lib/engine/storage/readcompanions.ts'
import { credentialItemKey } from '../../lib/keys/credential/credential.ts'
import { gateKeys } from '../../lib/keys/credential/gates.ts'
import { decodeKeyInternal } from '../../lib/keys/credential/keyinternal.ts'
import { table as keyTable } from '../../lib/keys/ownedaccesskey.table.ts'
import { endless } from '../support/deadlines.ts'
import { createExchangedKey, newFederation, openGates } from '../support/exchangedkeys.ts'
import { accessKey, keys, management } from '../support/objects.ts'
import { type Release, type Releases, startReleases } from './releases.ts'

const BOTH: readonly Release[] = ['old', 'new']
const merge = { 'content-type': 'application/merge-patch+json' }
const later = { deep: [1, { x: 'y' }] }

let releases: Releases
beforeAll(async () => {
  releases = await startReleases()
})
afterAll(() => releases?.stop())

/** Sets attributes of an item, as a function of a later release does. */
async function set({ pk, sk }: ItemKey, attributes: JsonObject): Promise<void> {
  const { client, table: TableName } = releases.store.dynamodb
  const names = Object.keys(attributes)
  await client.send(
    new UpdateItemCommand({
      TableName,
      Key: marshall({ pk, sk }),
      UpdateExpression: `SET ${names.map((_, i) => `#${i} = :${i}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(names.map((name, i) => [`#${i}`, name])),
      ExpressionAttributeValues: marshall(Object.fromEntries(names.map((name, i) => [`:${i}`, attributes[name]]))),
    }),
  )
}

const read = async ({ pk, sk }: ItemKey) => (await getCompanion(releases.parts.storage, { pk, sk }))?.attributes
const stored = async (name: string) => {
  const found = await releases.parts.storage.get(keyTable, name)
  if (!found) throw new Error(`no key ${name}`)
  return found
}
const credentialOf = async (name: string) =>
  credentialItemKey(decodeKeyInternal((await stored(name)).internal).credential)

const self = (release: Release, token: string) =>
  releases.call(`${management}/selves`, { method: 'POST', body: {}, token, headers: releases.by([release, 'new']) })
const change = (release: Release, name: string, spec: object) =>
  releases.call(`${keys}/${name}`, {
    method: 'PATCH',
    body: { spec },
    headers: { ...merge, ...releases.by([release, release]) },
  })

describe.each(BOTH)('the %s release', (release) => {
  const make = async (title: string) => {
    const name = `${title}-${release}`
    return { name, token: (await releases.make(keys, accessKey(name, { user: 'alice' }))).spec.key as string }
  }

  test('reads a credential with an unknown member, and keeps the member', async () => {
    const { name, token } = await make('credential')
    const at = await credentialOf(name)
    await set(at, { later })
    expect((await self(release, token)).status).toBe(201)
    expect((await change(release, name, { description: 'x' })).status).toBe(200)
    expect((await change(release, name, { disabled: true })).status).toBe(200)
    expect(await read(at)).toMatchObject({ later, disabled: true })
    expect((await self(release, token)).status).toBe(401)
  })

  // threat: releases-1
  test('never accepts a key whose credential has an unknown critical member', async () => {
    const { name, token } = await make('critical')
    const at = await credentialOf(name)
    await set(at, { later, crit: ['later'] })
    expect((await self(release, token)).status).toBe(503)
    expect((await change(release, name, { description: 'x' })).status).toBe(200)
    expect(await read(at)).toMatchObject({ later, crit: ['later'] })
    expect((await self(release, token)).status).toBe(503)
  })

  test('never accepts a key whose crit it cannot read', async () => {
    const { name, token } = await make('wrong')
    const at = await credentialOf(name)
    for (const crit of ['later', [], [1], null]) {
      await set(at, { crit })
      expect([crit, (await self(release, token)).status]).toEqual([crit, 503])
    }
  })

  test('keeps unknown members of the spec and of the internal part of a key', async () => {
    const { name, token } = await make('row')
    await releases.parts.storage.update(
      keyTable,
      name,
      (live) => {
        if (!live) throw new Error('no key')
        const object = { ...live.object, spec: { ...(live.object.spec as object), later } as JsonObject }
        return { type: 'put', object, internal: { ...live.internal, later } }
      },
      { deadline: endless },
    )
    expect((await change(release, name, { description: 'x' })).status).toBe(200)
    expect((await change(release, name, { key: `replaced-by-the-${release}-release-0123456789` })).status).toBe(200)
    const { object, internal } = await stored(name)
    expect([object.spec, internal]).toMatchObject([{ description: 'x', later }, { later }])
    expect((await self(release, token)).status).toBe(401)
  })

  test('holds a key, and the keys that it makes, to its source addresses', async () => {
    const limited = async (title: string, sourceCIDRs: string[]) =>
      (await releases.make(keys, accessKey(`${title}-${release}`, { user: 'alice', sourceCIDRs }))).spec.key as string
    const elsewhere = await self(release, await limited('elsewhere', ['192.0.2.1']))
    expect([elsewhere.status, elsewhere.json.message]).toEqual([403, expect.stringContaining('may not be used from')])
    const token = await limited('here', ['127.0.0.0/8'])
    const create = (name: string, spec: object) =>
      releases.call(keys, {
        method: 'POST',
        body: accessKey(`${name}-${release}`, { user: 'alice', ttl: 60, ...spec }),
        token,
        headers: releases.by([release, release]),
      })
    expect((await create('child', {})).status).toBe(201)
    expect((await stored(`child-${release}`)).object.spec).toMatchObject({ sourceCIDRs: ['127.0.0.0/8'] })
    const { name, token: free } = await make('free')
    const rotated = await releases.call(`${keys}/${name}`, {
      method: 'PATCH',
      body: { spec: { key: `known-to-the-thief-of-the-${release}-release` } },
      token,
      headers: { ...merge, ...releases.by([release, release]) },
    })
    expect(rotated.status).toBe(403)
    expect((await self(release, free)).status).toBe(201)
  })

  test('obeys a gate with an unknown member, and never one with an unknown critical member', async () => {
    const federation = newFederation()
    await openGates(releases.parts, federation)
    const { token } = await createExchangedKey(releases.parts, federation)
    const [trust, provider] = gateKeys(federation)
    await set(trust, { later })
    expect((await self(release, token)).status).toBe(201)
    await set(provider, { crit: ['later'] })
    expect((await self(release, token)).status).toBe(503)
  })
})

test('both releases have judged and written keys', () => {
  for (const release of BOTH) {
    expect([...releases.ran[release]]).toEqual(expect.arrayContaining(['authorizer', 'ownedaccesskeys/patch']))
  }
})
