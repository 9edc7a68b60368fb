/** Tests what is recorded about the use of keys, against the whole API. */

import { beforeAll, describe, expect, test } from 'vitest'
import { getCompanion } from '../../lib/engine/storage/readcompanions.ts'
import { usagePartition } from '../../lib/keys/credential/keptitems.ts'
import { positionKey } from '../../lib/keys/history/keptsince.ts'
import { recordingKey } from '../../lib/keys/usage/items.ts'
import { lifecycleHandler } from '../../lib/server/lifecycle.ts'
import { endless } from '../support/deadlines.ts'
import { accessKey, instance, instances, keys, management } from '../support/objects.ts'
import { applyPatch } from '../support/request.ts'
import type { MadeKey } from '../support/server.ts'
import { publishEvents, useServer } from '../support/sharedserver.ts'

const server = useServer()
beforeAll(publishEvents)

const usageOf = async ({ name }: Pick<MadeKey, 'name'>) => {
  const { status, json } = await server.call(`${keys}/${name}/usage`)
  expect(status).toBe(200)
  return json
}
const requestsOf = async (key: MadeKey): Promise<string[]> =>
  (await usageOf(key)).status.entries.map(({ request }: { request: string }) => request).sort()

const today = new Date().toISOString().slice(0, 10)
const rule = (verbs: string[], ...resources: string[]) => ({
  verbs,
  resources: [{ group: 'management.platform', resources }],
})

describe('usage', () => {
  test('has each kind of request once, with the scope entry that allows it, and no names of objects', async () => {
    await server.make(instances('p-web'), instance('one'))
    const key = await server.makeKey({
      user: 'alice',
      scope: { projects: [{ project: 'web' }] },
      groups: ['system:masters'],
    })
    for (const name of ['one', 'two', 'one']) await server.call(`${instances('p-web')}/${name}`, { token: key.token })
    await server.call(instances('p-web'), { token: key.token })
    await server.call('/apis', { token: key.token })
    await server.call(instances('p-other'), { token: key.token })
    const { kind, metadata, status } = await usageOf(key)
    expect([kind, metadata.uid]).toEqual(['OwnedAccessKeyUsage', key.uid])
    expect(status).toMatchObject({
      recording: true,
      complete: true,
      clusters: [],
    })
    const target = { namespaces: ['p-web'], requestTargets: ['Management'] }
    expect(status.entries).toEqual(
      expect.arrayContaining([
        {
          request: 'get of virtualclusterinstances in project "web"',
          scope: { rules: [{ ...rule(['get'], 'virtualclusterinstances'), ...target }] },
          lastUsed: today,
        },
        {
          request: 'list of virtualclusterinstances in project "web"',
          scope: { rules: [{ ...rule(['list'], 'virtualclusterinstances'), ...target }] },
          lastUsed: today,
        },
      ]),
    )
    const refused = { request: 'list of virtualclusterinstances in project "other"', lastUsed: today, refused: true }
    expect([status.entries.length, status.entries.at(-1)]).toEqual([3, refused])
    expect(JSON.stringify(status)).not.toContain('one')
  })

  test('has requests with a name and without one as one entry', async () => {
    const key = await server.makeKey({ user: 'alice' })
    for (const query of ['', '?fieldSelector=metadata.name=ci', '?watch=1&timeoutSeconds=1'])
      await server.call(`${keys}${query}`, { token: key.token })
    await server.call(`${keys}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name=ci`, { token: key.token })
    for (const query of ['', '?fieldSelector=metadata.name=dev'])
      await server.call(`${management}/virtualclusterinstances${query}`, { token: key.token })
    expect(await requestsOf(key)).toEqual([
      'list of ownedaccesskeys',
      'list of virtualclusterinstances',
      'watch of ownedaccesskeys',
    ])
  })

  test('has what a request needs besides what its path says', async () => {
    const key = await server.makeKey({
      user: 'alice',
      scope: { rules: [rule(['*'], 'ownedaccesskeys', 'ownedaccesskeys/accessreview', 'accesskeyrevocations')] },
    })
    const applied = applyPatch(accessKey('applied', { user: 'alice' }), key.token)
    expect((await server.call(`${keys}/applied?fieldManager=t`, applied)).status).toBe(201)
    expect(await requestsOf(key)).toEqual(['create of ownedaccesskeys', 'patch of ownedaccesskeys'])
    const asked = { resourceAttributes: { verb: 'get', group: 'management.platform', resource: 'ownedaccesskeys' } }
    expect((await server.post(`${keys}/applied/accessreview`, { spec: asked }, key.token)).status).toBe(201)
    const revocation = { spec: { names: ['applied'], action: 'Delete' } }
    expect((await server.post(`${management}/accesskeyrevocations`, revocation, key.token)).status).toBe(201)
    expect(await requestsOf(key)).toEqual(
      [
        'create of accesskeyrevocations',
        'create of ownedaccesskeys',
        'create of ownedaccesskeys/accessreview',
        'delete of ownedaccesskeys',
        'get of ownedaccesskeys',
        'list of ownedaccesskeys',
        'patch of ownedaccesskeys',
      ].sort(),
    )
  })

  // threat: usage-9
  test('has what clusters ask about the key, and which clusters ask and accept keys, and a dry run of the question writes nothing', async () => {
    const scope = { clusters: [{ cluster: 'usage-eu' }, { cluster: 'us' }] }
    const key = await server.makeKey({ user: 'alice', scope })
    const agent = await server.makeKey({ scope: { roles: [{ role: 'agent' }], clusters: [{ cluster: 'usage-eu' }] } })
    const extra = {
      'management.platform/access-key': [key.name],
      'management.platform/access-key-uid': [key.uid],
      'management.platform/scopes': [JSON.stringify([scope])],
      'management.platform/target': ['clusters/usage-eu'],
      'management.platform/issued-at': [String(Math.floor(Date.now() / 1000))],
    }
    const pods = { verb: 'get', resource: 'pods', subresource: 'log', namespace: 'web', name: 'web-0' }
    const ask = (more: object, query = '') =>
      server.post(
        `/apis/authorization.k8s.io/v1/subjectaccessreviews${query}`,
        { spec: { user: 'alice', uid: key.uid, resourceAttributes: { ...pods, ...more }, extra } },
        agent.token,
      )
    expect((await ask({}, '?dryRun=All')).json.status).toEqual({ allowed: false })
    expect((await usageOf(key)).status.entries).toEqual([])
    for (const name of ['web-0', 'web-1']) expect((await ask({ name })).json.status).toEqual({ allowed: false })
    await server.post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: key.token } }, agent.token)
    const { entries, clusters } = (await usageOf(key)).status
    expect(entries).toEqual([
      {
        request: 'get of pods/log in namespace "web" in cluster "usage-eu"',
        scope: {
          rules: [
            { verbs: ['get'], resources: [{ resources: ['pods/log'] }], namespaces: ['web'], cluster: 'usage-eu' },
          ],
        },
        lastUsed: today,
      },
    ])
    expect(clusters).toEqual([{ name: 'clusters/usage-eu', lastAccepted: today, lastAsked: today }])

    // By the scope in the token, and by that of the key since it was narrowed.
    const narrow = { rules: [{ verbs: ['get'], cluster: 'usage-eu' }] }
    const inToken = (verb: string, scope: object, more: object = {}) =>
      server.post(
        '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        {
          spec: {
            user: 'alice',
            uid: key.uid,
            resourceAttributes: { ...pods, subresource: '', verb },
            extra: { ...extra, 'management.platform/scopes': [JSON.stringify([scope])], ...more },
          },
        },
        agent.token,
      )
    const denied = { allowed: false, denied: true }
    expect((await inToken('delete', narrow)).json.status).toMatchObject(denied)
    await server.patch(`${keys}/${key.name}`, { spec: { scope: { ...narrow, clusters: null } } })
    expect((await inToken('create', scope)).json.status).toMatchObject(denied)
    const unknown = { 'management.platform/access-key-uid': ['11111111-1111-4111-8111-111111111111'] }
    expect((await inToken('delete', narrow, unknown)).json.status).toMatchObject(denied)
    // What refuses a cluster that may not review is not the scope of the key.
    const other = { 'management.platform/target': ['clusters/us'] }
    expect((await inToken('patch', narrow, other)).json.status).toMatchObject(denied)
    const after = (await usageOf(key)).status
    const refusals = after.entries.filter((one: { refused?: boolean }) => one.refused)
    expect(refusals.map(({ request }: { request: string }) => request).sort()).toEqual([
      'create of pods in namespace "web" in cluster "usage-eu"',
      'delete of pods in namespace "web" in cluster "usage-eu"',
    ])
    expect(after.entries).toHaveLength(3)
    const { items } = await server.parts.storage.queryCompanions(
      usagePartition(unknown['management.platform/access-key-uid'][0] ?? ''),
    )
    expect(items).toEqual([])
  })

  // threat: usage-4
  test('has what the scopes refused, which is no use of a line and never in advice', async () => {
    const scope = { projects: [{ project: 'web' }, { project: 'old' }], rules: [rule(['get'], 'ownedaccesskeys')] }
    const key = await server.makeKey({ user: 'alice', groups: ['system:masters'], scope })
    await server.call(instances('p-web'), { token: key.token })
    const before = (await usageOf(key)).status
    for (const name of ['a', 'b']) await server.call(`${keys}/${name}`, { method: 'DELETE', token: key.token })
    await server.call(`${instances('p-new')}/x/kubeconfig`, { method: 'POST', body: {}, token: key.token })
    await server.post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'x' } }, key.token)
    // No scope would help here.
    await server.call('/metrics', { token: key.token })
    const { entries, ...after } = (await usageOf(key)).status
    expect(after).toEqual({ ...before, entries: undefined })
    const refused = [
      'create of tokenreviews',
      'create of virtualclusterinstances/kubeconfig "x" in project "new"',
      'delete of ownedaccesskeys',
    ].map((request) => ({ request, lastUsed: today, refused: true }))
    expect(entries.filter((one: { refused?: boolean }) => one.refused)).toEqual(expect.arrayContaining(refused))
    expect(entries).toHaveLength(4)
  })

  // threat: usage-1
  test('is shown to those who may read the key, and to nobody else', async () => {
    const alice = await server.makeKey({ user: 'alice' })
    const bob = await server.makeKey({ user: 'bob' })
    const reader = await server.makeKey({ scope: { rules: [rule(['get'], 'ownedaccesskeys/usage')] } }, {}, alice.token)
    const both = await server.makeKey(
      { scope: { rules: [rule(['get'], 'ownedaccesskeys/usage', 'ownedaccesskeys')] } },
      {},
      alice.token,
    )
    const read = async (token: string, name = alice.name) =>
      (await server.call(`${keys}/${name}/usage`, { token })).status
    expect(await read(alice.token)).toBe(200)
    expect([await read(bob.token), await read(alice.token, 'nobody')]).toEqual([404, 404])
    // It may read the object only of keys, or less than the usage of a key tells.
    expect([await read(reader.token), await read(both.token), await read(both.token, both.name)]).toEqual([
      403, 403, 200,
    ])
    const written = await server.call(`${keys}/${alice.name}/usage`, { method: 'POST', body: {}, token: alice.token })
    expect(written.status).toBe(405)
  })

  test('says which lines were used, and advises a scope without the others', async () => {
    const scope = { projects: [{ project: 'web' }, { project: 'old' }], clusters: [{ cluster: 'eu' }] }
    const key = await server.makeKey({ user: 'alice', groups: ['system:masters'], scope })
    await server.call(instances('p-web'), { token: key.token })
    const { lines, advice, findings } = (await usageOf(key)).status
    expect(lines).toEqual([
      { line: 'spec.scope.projects[0]', state: 'Used', lastUsed: today },
      { line: 'spec.scope.projects[1]', state: 'Unused' },
      { line: 'spec.scope.clusters[0]', state: 'Unused' },
    ])
    expect(advice).toMatchObject({
      scope: { projects: [{ project: 'web' }] },
      removed: ['projects: {project: old}', 'clusters: {cluster: eu}'],
      unknowns: [{ reason: 'Incomplete' }],
    })
    expect(findings.map(({ type }: { type: string }) => type)).toEqual(['NeverExpires'])
  })

  test('survives a rotation and goes with the key', async () => {
    const key = await server.makeKey({ user: 'alice' })
    await server.call(keys, { token: key.token })
    const rotated = await server.post(`${keys}/${key.name}/rotate`, {}, key.token)
    await server.call(keys, { token: rotated.json.status.key })
    expect(await requestsOf(key)).toEqual(['create of ownedaccesskeys/rotate', 'list of ownedaccesskeys'])
    expect((await server.call(`${keys}/${key.name}`, { method: 'DELETE' })).status).toBe(200)
    await publishEvents()
    expect((await server.parts.storage.queryCompanions(usagePartition(key.uid))).items).toEqual([])
  })

  test('is known since the deployment records it, and a deployment that stops has no such time', async () => {
    const run = (record: string) => {
      process.env.RECORD_USAGE = record
      return lifecycleHandler()({}, { getRemainingTimeInMillis: () => 60_000 })
    }
    const marked = () => getCompanion(server.parts.storage, recordingKey)
    try {
      await run('true')
      const first = await marked()
      await run('true')
      expect(await marked()).toEqual(first)
      const key = await server.makeKey()
      const { creationTimestamp } = (await server.call(`${keys}/${key.name}`)).json.metadata
      expect((await usageOf(key)).status.since).toBe(creationTimestamp)
      // As a release writes it that records neither.
      const position = await getCompanion(server.parts.storage, positionKey)
      const { since: _, swap: __, ...attributes } = position?.attributes ?? {}
      await server.parts.storage.writeCompanion({ ...positionKey, attributes }, { deadline: endless })
      expect((await usageOf(key)).status.since).toBeUndefined()
      const ahead = Math.floor(Date.now() / 1000) + 400 * 86_400
      await server.parts.storage.writeCompanion(
        { ...recordingKey, attributes: { since: ahead } },
        { deadline: endless },
      )
      await run('true')
      expect(Number((await marked())?.attributes.since)).toBeLessThan(ahead)
      await run('false')
      expect(await marked()).toBeUndefined()
    } finally {
      delete process.env.RECORD_USAGE
    }
  })
})

describe('a deployment that records no usage', () => {
  const silent = useServer({ RECORD_USAGE: 'false' })

  test('writes none, advises nothing, and says so in a dry run that narrows a scope', async () => {
    const key = await silent.makeKey({ user: 'alice', scope: { projects: [{ project: 'b' }] } })
    await silent.call(instances('p-b'), { token: key.token })
    const { recording, complete, entries, advice } = (await silent.call(`${keys}/${key.name}/usage`)).json.status
    expect([recording, complete, entries, advice.scope]).toEqual([false, false, [], undefined])
    expect((await silent.parts.storage.queryCompanions(usagePartition(key.uid))).items).toEqual([])
    const dry = await silent.patch(`${keys}/${key.name}?dryRun=All`, { spec: { scope: { projects: null } } })
    expect(dry.headers.warning).toContain('is not recorded completely, so the new scope may refuse more requests')
  })
})
