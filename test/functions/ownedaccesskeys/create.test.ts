import { describe, expect, test } from 'vitest'
import { useFunctions } from '../../support/functions.ts'
import { alice, bob, userNamed, withScopes } from '../../support/users.ts'
import { describeCreate } from '../stored/create.ts'
import { accessKeys, callsOf, objectOf, status } from '../stored/fixtures.ts'

const functions = useFunctions()
const { call, read } = callsOf(functions, accessKeys)
const create = (name: string, spec: object, user = alice, query: Record<string, string> = {}) =>
  call('create', { user, query, body: objectOf(accessKeys, { name }, spec) })

describeCreate(functions, accessKeys)

describe('201', () => {
  // Only this response contains the key.
  test('generates and returns the key', async () => {
    const { json } = await create('shown', {})
    expect(json.spec.key).toMatch(/^mpk_[0-9A-Za-z]{49}$/)
    expect((await read('shown')).spec ?? {}).not.toHaveProperty('key')
  })

  test('accepts a supplied key unchanged', async () => {
    const key = 'brought-along-0123456789-0123456789'
    const { status: code, json } = await create('supplied', { key })
    expect([code, json.spec.key]).toEqual([201, key])
  })

  // A dry run creates no usable credential.
  test('returns no key in a dry run, not even a supplied one', async () => {
    const [made, supplied] = await Promise.all([
      create('dry-made', {}, alice, { dryRun: 'All' }),
      create('dry-supplied', { key: 'brought-along-9876543210-9876543210' }, alice, { dryRun: 'All' }),
    ])
    for (const { status: code, json, text } of [made, supplied]) {
      expect([code, json.spec?.key]).toEqual([201, undefined])
      expect(text).not.toContain('brought-along')
    }
  })

  // Without user, team and subject, the creator owns the key.
  test('returns the owner and the expiration in the status', async () => {
    const { json } = await create('mine', { ttl: 3600 })
    expect(json.status).toEqual({
      owner: 'alice',
      phase: 'Active',
      expirationTimestamp: new Date(Date.parse(json.metadata.creationTimestamp) + 3_600_000)
        .toISOString()
        .replace('.000Z', 'Z'),
    })
  })

  test('accepts deprecated fields with a warning for each', async () => {
    const { status: code, headers } = await create('old', { parent: 'other', scope: { allowPlatformCli: true } })
    expect(code).toBe(201)
    expect(headers.warning).toEqual([
      expect.stringContaining('spec.parent: deprecated'),
      expect.stringContaining('spec.scope.allowPlatformCli: deprecated'),
    ])
  })

  test('allows a key for a team and with groups of the user', async () => {
    const member = userNamed('carol', ['team:ops', 'dev'])
    const { status: code, json } = await create('team', { team: 'ops', groups: ['dev'] }, member)
    expect([code, json.status.owner]).toEqual([201, 'team:ops'])
  })
})

describe('403', () => {
  // A key never grants more than its creator has.
  test.each([
    { spec: { user: 'bob' }, why: 'spec.user: only system:masters may create access keys for others' },
    { spec: { team: 'ops' }, why: 'spec.team: ' },
    { spec: { subject: 'robot' }, why: 'spec.subject: ' },
    { spec: { groups: ['system:masters'] }, why: 'spec.groups: "alice" is not in group "system:masters"' },
    { spec: { type: 'Login' }, why: 'spec.type: access keys of type "Login" are managed by the service' },
  ])('for $spec', async ({ spec, why }) => {
    const { status: code, json } = await create('more', spec)
    expect([code, json]).toEqual([403, status(403, 'Forbidden', expect.stringContaining(why))])
    expect((await read('more')).code).toBe(404)
  })
})

describe('422', () => {
  // Two objects with the same key would give it two owners. The response does not contain the value.
  test('for a key that another object has', async () => {
    const key = 'twice-the-same-0123456789-0123456789'
    expect((await create('first', { key })).status).toBe(201)
    for (const query of [{}, { dryRun: 'All' }] as const) {
      const { status: code, json, text } = await create('second', { key }, bob, query)
      expect([code, json.details.causes]).toEqual([
        422,
        [{ reason: 'FieldValueDuplicate', message: 'Duplicate value: <redacted>', field: 'spec.key' }],
      ])
      expect(text).not.toContain(key)
    }
  })

  test.each([
    { what: 'short', key: 'too-short' },
    { what: 'with a space', key: 'with a space 0123456789 0123456789 012' },
    { what: 'like a JWT', key: 'aaaaaaaaaaaaaaaaaaaaaaaa.bbbbbbbbbbbbbbbbbbbb.cccccccccccc' },
    { what: 'with a wrong checksum', key: `mpk_${'a'.repeat(49)}` },
  ])('for a key that is $what', async ({ key }) => {
    const { status: code, json, text } = await create('bad', { key })
    expect([code, json.details.causes.length, json.details.causes[0].field]).toEqual([422, 1, 'spec.key'])
    expect(text).not.toContain(key)
  })

  test('for reserved names', async () => {
    const { status: code } = await create('system', { user: 'system:admin' }, userNamed('admin', ['system:masters']))
    expect(code).toBe(422)
  })

  // Headers carry the scope chain. A chain that does not fit is rejected when it would be stored.
  test('for a chain of more than eight scopes', async () => {
    const deep = withScopes(alice, ...Array.from({ length: 8 }, (_, n) => ({ projects: [{ project: `p${n}` }] })))
    const { status: code, json } = await create('deep', { scope: { projects: [{ project: 'p' }] } }, deep)
    expect([code, json.details.causes[0].field]).toEqual([422, 'spec.scope'])
  })
})
