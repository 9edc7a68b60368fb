/** Revocations of many access keys and the line of keys, through the whole API. */
import { describe, expect, test } from 'vitest'
import type { KeyEvent } from '../../lib/keys/events/event.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import { createExchangedKey, newFederation, openGates } from '../support/exchangedkeys.ts'
import { keys } from '../support/objects.ts'
import { causesOf, namesOf, revokingOn } from '../support/revocations.ts'
import { publishEvents, useServer } from '../support/sharedserver.ts'

const server = useServer({ MAX_KEYS_PER_OWNER: '0' })

const { revoke, make, patch, get, isDisabled, use } = revokingOn(() => server)

let counted = 0
/** Returns a label that only the keys of one test have. */
const newLabel = (): { run: string } => ({ run: `test-${++counted}` })

describe('a revocation', () => {
  test('disables the selected keys, says why on them, and spares all others', async () => {
    const labels = newLabel()
    const [one, two] = [
      await make('one', { user: 'alice' }, { labels }),
      await make('two', { user: 'bob' }, { labels }),
    ]
    const other = await make('other', { user: 'alice' })
    const answer = await revoke({ selector: { matchLabels: labels }, reason: 'incident 7' })
    expect(answer.status).toBe(201)
    expect(answer.json.status).toEqual({
      matched: 2,
      done: 2,
      failed: 0,
      remaining: false,
      byOwner: { alice: 1, bob: 1 },
      keys: [
        { name: 'one', owner: 'alice', hint: one.token.slice(-6) },
        { name: 'two', owner: 'bob', hint: two.token.slice(-6) },
      ],
    })
    for (const { token } of [one, two]) expect(await use(token)).toBe(401)
    expect(await use(other.token)).toBe(201)
    const { metadata, spec } = await get('one')
    expect([spec.disabled, metadata.generation]).toEqual([true, 2])
    expect(metadata.annotations).toEqual({ 'management.platform/disabled-reason': 'incident 7' })
    expect((await patch('one', { spec: { disabled: false } })).status).toBe(200)
    expect(await use(one.token)).toBe(201)
  })

  test('deletes the selected keys, also disabled ones', async () => {
    const labels = newLabel()
    await make('gone', {}, { labels })
    await make('gone-disabled', { disabled: true }, { labels })
    await make('held', {}, { labels, finalizers: ['example.com/hold'] })
    const spec = { selector: { matchLabels: labels } }
    expect((await revoke(spec, { dryRun: true })).json.status).toMatchObject({ matched: 2, done: 2 })
    const answer = await revoke({ ...spec, action: 'Delete' })
    expect(answer.json.status).toMatchObject({ matched: 3, done: 3, failed: 0, remaining: false })
    expect((await server.call(`${keys}/gone`)).status).toBe(404)
    expect((await get('held')).status.phase).toBe('Terminating')
    expect((await revoke({ ...spec, action: 'Delete' })).json.status).toMatchObject({ matched: 0, done: 0 })
  })

  test('writes one audit record with the count and the names, and its ID into each change', async () => {
    const labels = newLabel()
    for (const name of ['audited-b', 'audited-a']) await make(name, {}, { labels })
    const answer = await revoke({ selector: { matchLabels: labels } })
    expect(server.auditOf(answer)).toMatchObject({
      verb: 'create',
      resource: 'accesskeyrevocations',
      count: 2,
      names: ['audited-a', 'audited-b'],
      code: 201,
    })
    const changes = await server.parts.storage.changes(
      OwnedAccessKey.table,
      Number((await get('audited-a')).metadata.resourceVersion) - 3,
    )
    const requests = changes.changes.filter(({ key }) => key.startsWith('audited-')).map(({ by }) => by?.requestId)
    expect(requests.slice(-2)).toEqual([answer.headers['audit-id'], answer.headers['audit-id']])
  })

  test('ends every value of a key with an open rotation', async () => {
    const labels = newLabel()
    const { token } = await make('rotating', {}, { labels })
    const { json } = await server.post(`${keys}/rotating/rotate`, {})
    expect((await revoke({ selector: { matchLabels: labels } })).json.status).toMatchObject({ done: 1, failed: 0 })
    expect([await use(token), await use(json.status.key)]).toEqual([401, 401])
  })

  test('disables and deletes keys of exchanges', async () => {
    const federation = newFederation()
    await openGates(server.parts, federation)
    const one = await createExchangedKey(server.parts, federation)
    const names = [one.name]
    expect((await revoke({ names, reason: 'a job is stolen' })).json.status).toMatchObject({ done: 1, failed: 0 })
    expect(await use(one.token)).toBe(401)
    expect((await revoke({ names, action: 'Delete' })).json.status).toMatchObject({ matched: 1, done: 1 })
  })

  test('is an event of each key, with who revoked it', async () => {
    // The first run on an emptied table begins at its end.
    await publishEvents()
    const { token } = await make('revoker', { user: 'root', groups: ['system:masters'] })
    await make('told', { user: 'alice' })
    await revoke({ names: ['told'] }, { token })
    await publishEvents()
    const events: KeyEvent[] = server.services.published.map((text) => JSON.parse(text))
    const found = events.find(({ type, subject }) => type.includes('revoked') && subject.endsWith('/told'))
    expect(found?.data).toMatchObject({ how: 'Disabled', actor: { user: 'root' } })
  })

  test('shows who changed a key, like a patch of it', async () => {
    await make('managed')
    await revoke({ names: ['managed'], reason: 'x' })
    const { metadata } = await get('managed')
    const entry = metadata.managedFields.at(-1)
    expect(entry).toMatchObject({ operation: 'Update', fieldsV1: { 'f:spec': { 'f:disabled': {} } } })
    expect(entry.fieldsV1['f:metadata']).toEqual({
      'f:annotations': { '.': {}, 'f:management.platform/disabled-reason': {} },
    })
  })

  // threat: revocation-16
  test('disables a key that has no room for the reason', async () => {
    const annotations = { full: 'x'.repeat(256 * 1024 - 4) }
    const { token } = await make('full', {}, { annotations })
    expect((await revoke({ names: ['full'], reason: 'because' })).json.status).toMatchObject({ done: 1, failed: 0 })
    expect(await use(token)).toBe(401)
  })

  test('describes the first 200 keys, and counts all of each owner', async () => {
    const labels = newLabel()
    const each = async (index: number) => {
      const name = `many-${String(index).padStart(3, '0')}`
      await make(name, { user: index < 3 ? '__proto__' : 'eve', displayName: 'd' }, { labels })
    }
    await Promise.all(Array.from({ length: 205 }, (_, index) => each(index)))
    const { json, text } = await revoke({ selector: { matchLabels: labels } }, { dryRun: true })
    expect([json.status.matched, json.status.keys.length]).toEqual([205, 200])
    expect(text).toContain('"byOwner":{"eve":202,"__proto__":3}')
    expect(json.status.keys[0]).toMatchObject({
      name: 'many-000',
      displayName: 'd',
      hint: expect.stringMatching(/^\w{6}$/),
    })
  })
})

describe('the line of a key', () => {
  // threat: revocation-13
  test('survives deletions, and selects what a key made at any depth', async () => {
    const root = await make('line-root', { user: 'dora', groups: ['system:masters'] })
    const a = await make('line-a', {}, {}, root.token)
    const b = await make('line-b', {}, {}, a.token)
    const c = await make('line-c', {}, {}, b.token)
    await make('line-d', {}, {}, c.token)
    expect((await get('line-d')).status.madeWith).toEqual({ name: 'line-c', uid: c.uid })
    for (const name of ['line-a', 'line-c']) await server.call(`${keys}/${name}`, { method: 'DELETE' })
    const all = await revoke({ madeWith: { name: 'line-root' } }, { dryRun: true })
    expect(namesOf(all)).toEqual(['line-b', 'line-d'])
    expect(namesOf(await revoke({ madeWith: { uid: a.uid } }, { dryRun: true }))).toEqual(['line-b', 'line-d'])
    const direct = await revoke({ madeWith: { uid: a.uid, descendants: false } }, { dryRun: true })
    expect(namesOf(direct)).toEqual(['line-b'])
    expect(causesOf(await revoke({ madeWith: { name: 'line-a' } }))).toEqual([
      'spec.madeWith.name: Invalid value: "line-a": you can see no access key with this name: for a deleted key, give the uid',
    ])
    const done = await revoke({ madeWith: { uid: a.uid, name: 'line-a' } })
    expect(done.json.status).toMatchObject({ matched: 2, done: 2 })
    expect(await isDisabled('line-d')).toBe(true)
    expect(await isDisabled('line-root')).toBe(false)
  })

  // Otherwise a thief would hide what they made: they delete the stolen key, and make another one of its name.
  // threat: revocation-14
  test('is not lost when another key has the name of its maker', async () => {
    const spec = { user: 'dora', groups: ['system:masters'] }
    const root = await make('name-root', spec)
    const stolen = await make('name-stolen', spec)
    await make('name-old', { user: 'emil' }, {}, stolen.token)
    await server.call(`${keys}/name-stolen`, { method: 'DELETE', token: stolen.token })
    const again = await make('name-stolen', spec)
    await make('name-new', {}, {}, again.token)
    const named = (token: string) => revoke({ madeWith: { name: 'name-stolen' } }, { dryRun: true, token })
    const warned = await named(root.token)
    expect(namesOf(warned)).toEqual(['name-new'])
    expect(warned.headers.warning).toContain(`set spec.madeWith.uid to ${stolen.uid}`)
    // Emil does not learn who made his key.
    const emil = await make('name-emil', { user: 'emil' })
    await server.call(`${keys}/name-stolen`, { method: 'DELETE', token: again.token })
    await make('name-stolen', { user: 'emil' })
    expect((await named(emil.token)).headers.warning).toBeUndefined()
    const done = await revoke({ madeWith: { uid: stolen.uid } })
    expect([done.json.status.done, (await named(root.token)).headers.warning]).toEqual([
      1,
      expect.stringContaining(again.uid),
    ])
  })
})
