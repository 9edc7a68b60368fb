/** Tests that rotations give nobody more access, and that who stole a value neither stays nor locks the owner out. */

import { describe, expect, test } from 'vitest'
import { mergePatch } from '../support/request.ts'
import { type Attack, keys, management, useVictims, writes } from '../support/victims.ts'

const victims = useVictims()
const { held, send, make, self, refused } = victims

const rotation = (name: string, token: string, spec: object = {}, more: Partial<Attack> = {}): Attack => ({
  method: 'POST',
  path: `${keys}/${name}/rotate`,
  token,
  body: { spec },
  ...more,
})
const own = (text: string) => `own-value-of-${text}`.padEnd(40, '.')
const works = async (token: string) =>
  (await send({ method: 'POST', path: `${management}/selves`, token, body: {} })).status === 201
const selfRotate = { roles: [{ role: 'selfRotate' }] }
/** Every kind of rotation. */
const kinds = (name: string): object[] => [{}, { replace: true }, { finish: true }, { key: own(name) }]

describe('a key with the role selfRotate', () => {
  // threat: rotation-14
  test('reads and rotates itself, and does nothing else', async () => {
    const token = await make('rotator', { user: 'alice', groups: ['dev'], ttl: 3600, scope: selfRotate })
    const others = ['alice', 'ci', 'keeper', 'victim', 'of-team', 'none']
    const { json } = await send({ path: `${keys}/rotator`, token })
    const attacks: Attack[] = [
      ...others.flatMap((name) => kinds(name).map((spec) => rotation(name, token, spec))),
      ...others.map((name) => ({ path: `${keys}/${name}`, token })),
      ...['', '?watch=true', '?fieldSelector=metadata.name%3Drotator'].map((query) => ({ path: keys + query, token })),
      ...writes('rotator', json, { ...json.spec, description: 'changed' }).map((write) => ({ ...write, token })),
      { path: `${keys}/rotator/status`, token },
      { method: 'DELETE', path: `${keys}/rotator`, token },
      { method: 'POST', path: keys, token, body: { metadata: { name: 'more' } } },
      { method: 'POST', path: `${management}/directclusterendpointtokens`, token, body: {} },
      rotation('rotator', token, {}, { path: `${keys}/rotator/rotate/more` }),
      rotation('rotator', token, {}, { method: 'PUT' }),
      rotation('rotator', token, {}, { headers: { 'impersonate-user': 'root' } }),
    ]
    await refused(attacks)
    expect((await send(rotation('rotator', token))).status).toBe(201)
    await victims.unharmed()
  })

  // threat: rotation-14
  test('of an administrator reads and rotates only itself, too', async () => {
    const groups = ['system:masters']
    const token = await make('master', { user: 'root', groups, ttl: 3600, scope: selfRotate })
    for (const name of ['alice', 'victim', 'dead']) {
      await refused(
        [{ path: `${keys}/${name}`, token }, ...kinds(name).map((spec) => rotation(name, token, spec))],
        [404],
      )
    }
    expect((await send({ path: `${keys}/master`, token })).status).toBe(200)
    expect((await send(rotation('master', token))).status).toBe(201)
    await send({ method: 'DELETE', path: `${keys}/master`, token: held.admin })
  })

  // threat: rotation-14
  test('is not mistaken for a key of the same name that was deleted', async () => {
    const token = await make('again', { user: 'alice', ttl: 3600, scope: selfRotate })
    await send({ method: 'DELETE', path: `${keys}/again`, token: held.admin })
    const second = await make('again', { user: 'alice' })
    await refused([rotation('again', token), { path: `${keys}/again`, token }], [401])
    expect(await works(second)).toBe(true)
  })

  // threat: rotation-11
  test('must expire at a fixed time', async () => {
    const body = (spec: object) => ({ metadata: { generateName: 'endless-' }, spec: { scope: selfRotate, ...spec } })
    for (const spec of [{}, { ttl: 0 }, { ttl: 60, ttlAfterLastActivity: true }])
      expect((await send({ method: 'POST', path: keys, token: held.alice, body: body(spec) })).status).toBe(422)
    const token = await make('ending', { user: 'alice', ttl: 3600, scope: selfRotate })
    const { json } = await send({ path: `${keys}/ending`, token })
    const { ttl: _, ...endless } = json.spec
    const changes = [endless, { ...json.spec, ttl: 0 }, { ...json.spec, ttlAfterLastActivity: true }]
    for (const spec of changes) {
      const [put] = writes('ending', json, spec)
      expect((await send({ ...(put as Attack), token: held.admin })).status).toBe(422)
    }
  })
})

// Its users are locked out when it expires, and nobody else gives it the right to review.
// threat: rotation-11
test('only the key of a cluster rotates itself without an end, until somebody else changes its scope', async () => {
  const scope = { roles: [{ role: 'agent' }, { role: 'selfRotate' }], clusters: [{ cluster: 'eu' }] }
  const body = { metadata: { name: 'agent-eu' }, spec: { user: 'alice', scope } }
  const made = (token: string) => send({ method: 'POST', path: keys, token, body })
  expect((await made(held.alice)).status).toBe(422)
  const { status, json } = await made(held.admin)
  expect([status, json.status.mayReview]).toEqual([201, true])
  const rotated = await send(rotation('agent-eu', json.spec.key, { overlapSeconds: 3600 }))
  expect(rotated.status).toBe(201)
  expect(await works(rotated.json.status.key)).toBe(true)
  // The owner may change texts, and not the scope.
  const change = (spec: object) => send({ path: `${keys}/agent-eu`, token: held.alice, ...mergePatch({ spec }) })
  expect((await change({ displayName: 'Europe' })).status).toBe(200)
  const wider = { ...scope, clusters: [{ cluster: 'eu' }, { cluster: 'us' }] }
  expect((await change({ scope: wider })).status).toBe(422)
  await send({ method: 'DELETE', path: `${keys}/agent-eu`, token: held.admin })
})

describe('a stolen value', () => {
  // threat: rotation-11
  test('of a key with the role selfRotate neither locks the owner out nor lives longer', async () => {
    const token = await make('stolen', { user: 'alice', ttl: 3600, scope: selfRotate })
    const { expirationTimestamp } = (await send({ path: `${keys}/stolen`, token })).json.status
    const [short, finish] = await Promise.all([
      send(rotation('stolen', token, { overlapSeconds: 3599 })),
      send(rotation('stolen', token, { finish: true })),
    ])
    expect([short.status, finish.status]).toEqual([422, 403])
    // The owner's job has rotated, and the thief cannot replace its value.
    const { json } = await send(rotation('stolen', token, { overlapSeconds: 3600 }))
    await refused([rotation('stolen', token, { replace: true, overlapSeconds: 3600 })], [409])
    expect(await works(json.status.key)).toBe(true)
    await refused(
      kinds('stolen').flatMap((spec) => [
        rotation('stolen', token, { overlapSeconds: 3600, ...spec }),
        rotation('stolen', token, spec),
      ]),
      [403, 409, 422],
    )
    expect(await works(token)).toBe(true)
    const after = (await send({ path: `${keys}/stolen`, token: json.status.key })).json.status
    expect(after.expirationTimestamp).toBe(expirationTimestamp)
  })

  // threat: rotation-10
  test('that was rotated changes nothing during its overlap', async () => {
    const scope = { rules: [{ resources: [{ group: 'management.platform' }] }] }
    const old = await make('rotated', { user: 'alice', ttl: 3600, scope })
    const { json } = await send(rotation('rotated', old, { overlapSeconds: 600 }))
    expect(await works(json.status.key)).toBe(true)
    await refused(
      kinds('rotated').map((spec) => rotation('rotated', old, spec)),
      [409],
    )
    await refused([{ path: `${keys}/rotated`, token: old, ...mergePatch({ spec: { key: own('back') } }) }], [409])
    expect((await self(json.status.key)).accessKey).toBe('rotated')
  })

  // threat: rotation-19
  test('that ended rotates and finishes nothing', async () => {
    const old = await make('ended', { user: 'alice' })
    const { json } = await send(rotation('ended', old, { overlapSeconds: 0 }))
    expect(await works(json.status.key)).toBe(true)
    await refused(
      kinds('ended').map((spec) => rotation('ended', old, spec)),
      [401],
    )
    await refused([rotation('ended', held.alice, { key: old })], [422])
    expect(await works(old)).toBe(false)
  })
})

describe('a rotation', () => {
  // threat: rotation-15
  test('gives a scoped key no value of its maker, nor of any key that does not carry its scope', async () => {
    const all = { group: 'management.platform', resources: ['ownedaccesskeys', 'ownedaccesskeys/*'] }
    const scope = { rules: [{ resources: [all] }] }
    const maker = await make('maker', { user: 'alice', ttl: 3600, scope })
    const body = {
      metadata: { name: 'made' },
      spec: { ttl: 60, scope: { rules: [{ resources: [all] }], projects: [{ project: 'a' }] } },
    }
    const made = (await send({ method: 'POST', path: keys, token: maker, body })).json.spec.key
    const attacks = ['maker', 'alice', 'ci', 'keeper'].flatMap((name) =>
      kinds(name).map((spec) => rotation(name, made, spec)),
    )
    await refused(attacks, [403])
    await refused(
      ['victim', 'of-team', 'of-subject', 'dead'].map((name) => rotation(name, made)),
      [404],
    )
    expect((await send(rotation('made', made))).status).toBe(201)
    expect((await send(rotation('made', maker, { finish: true }))).status).toBe(201)
  })

  // threat: rotation-15
  test('gives no user a value of a key with more groups or of the service', async () => {
    await make('powerful', { user: 'alice', groups: ['dev', 'ops'] })
    await make('login', { user: 'alice', groups: ['dev'], type: 'Login' })
    await refused(
      ['powerful', 'login'].flatMap((name) => kinds(name).map((spec) => rotation(name, held.alice, spec))),
      [403],
    )
  })

  // threat: rotation-15
  test('gives a key that expires no value of one that lives longer', async () => {
    const short = await make('short', { user: 'alice', groups: ['dev'], ttl: 60 })
    await make('long', { user: 'alice', groups: ['dev'], ttl: 3600 })
    await refused(
      [{}, { key: own('long') }].map((spec) => rotation('long', short, spec)),
      [403],
    )
    expect((await send(rotation('short', short))).status).toBe(201)
  })

  test('is refused outside the scope, and with a malformed body', async () => {
    await refused([
      rotation('ci', held.ci),
      rotation('reader', held.reader),
      rotation('keeper', held.keeper),
      rotation('victim', held.auditor),
      rotation('alice', held.alice, {}, { body: '{"spec":{"replace":false,"replace":true}}' }),
      rotation('alice', held.alice, { overlapSeconds: '5' }),
      rotation('alice', held.alice, { overlapSeconds: 1e30 }),
      rotation('alice', held.alice, { finish: 'yes' }),
      rotation('alice', held.alice, { key: 'x'.repeat(600) }),
    ])
    expect(await works(held.alice)).toBe(true)
    await victims.unharmed()
  })
})
