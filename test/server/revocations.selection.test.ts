/** Which keys a revocation selects: what is not clear must never select more. */
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { runs } from '../support/effort.ts'
import { apiVersion, keys } from '../support/objects.ts'
import { causesOf, namesOf, revokingOn } from '../support/revocations.ts'
import { useServer } from '../support/sharedserver.ts'

const server = useServer({ MAX_KEYS_PER_OWNER: '0' })
const { send, revoke, make, isDisabled } = revokingOn(() => server)
const kind = 'AccessKeyRevocation'
const scope = { projects: [{ project: 'a' }] }

let tool: string
beforeAll(async () => {
  await make('alice-ci', { user: 'alice', type: 'Other' }, { labels: { env: 'ci' } })
  await make('alice-old', { user: 'alice', type: 'User', scope }, { labels: { env: 'dev', old: 'yes' } })
  await make('bob', { user: 'bob', scope })
  await make('team', { team: 'dev' })
  await make('subject', { subject: 'alice' })
  await make('disabled', { user: 'alice', disabled: true }, { labels: { env: 'ci' } })
  ;({ token: tool } = await make('tool', { user: 'root', groups: ['system:masters'] }))
  for (const name of ['made', 'made-too']) await make(name, { user: 'root' }, {}, tool)
  await server.post('/apis/management.platform/v1/selves', {}, tool)
})

const others = ['alice-ci', 'alice-old', 'bob', 'made', 'made-too', 'subject', 'team', 'tool']
const future = () => new Date(Date.now() + 3_600_000).toISOString()
const seconds = (ahead: number) => new Date(Math.floor(Date.now() / 1000 + ahead) * 1000).toISOString()

describe('a revocation selects', () => {
  test.each<[string, object, string[]]>([
    ['by labels', { selector: { matchLabels: { env: 'ci' } } }, ['alice-ci']],
    [
      'by In',
      { selector: { matchExpressions: [{ key: 'env', operator: 'In', values: ['ci', 'dev'] }] } },
      ['alice-ci', 'alice-old'],
    ],
    [
      'by NotIn, also objects without the label',
      { selector: { matchExpressions: [{ key: 'env', operator: 'NotIn', values: ['ci'] }] } },
      others.filter((one) => one !== 'alice-ci'),
    ],
    [
      'by Exists and DoesNotExist',
      {
        selector: {
          matchExpressions: [
            { key: 'env', operator: 'Exists' },
            { key: 'old', operator: 'DoesNotExist' },
          ],
        },
      },
      ['alice-ci'],
    ],
    ['by user, and no subject of the same name', { users: ['alice'] }, ['alice-ci', 'alice-old']],
    ['by team', { teams: ['dev'] }, ['team']],
    ['by subject', { subjects: ['alice', 'nobody'] }, ['subject']],
    ['by type', { types: ['User'] }, ['alice-old']],
    ['keys without a scope', { unscoped: true, users: ['alice', 'bob'] }, ['alice-ci']],
    ['by names, once each', { names: ['bob', 'bob', 'team', 'disabled', 'nobody', '../x'] }, ['bob', 'team']],
    ['what matches all fields', { users: ['alice'], types: ['User', 'Other'], unscoped: true }, ['alice-ci']],
    ['what another key made', { madeWith: { name: 'tool' } }, ['made', 'made-too']],
    ['nothing by a time before all keys', { createdBefore: '2026-01-01T00:00:00+01:00' }, []],
    ['all', { all: true, atMost: 8 }, others],
    [
      'disabled keys to delete',
      { action: 'Delete', selector: { matchLabels: { env: 'ci' } } },
      ['alice-ci', 'disabled'],
    ],
  ])('%s', async (_, spec, names) => {
    const answer = await revoke(spec, { dryRun: true })
    expect([answer.status, answer.status === 201 ? namesOf(answer) : causesOf(answer)]).toEqual([201, names])
    expect(answer.json.status).toMatchObject({ matched: names.length, done: names.length, failed: 0, remaining: false })
  })

  test('by the creation and by the last use', async () => {
    expect(namesOf(await revoke({ createdBefore: seconds(60) }, { dryRun: true }))).toEqual(others)
    // A key that was never used counts from its creation.
    expect(namesOf(await revoke({ unusedSince: seconds(60) }, { dryRun: true }))).toEqual(others)
    expect(namesOf(await revoke({ unusedSince: '2026-01-01T00:00:00Z' }, { dryRun: true }))).toEqual([])
  })

  // threat: users-10
  test('by the last use, of which one in the future counts as none', async () => {
    const write = (lastActivity: string) => server.patch(`${keys}/bob/status`, { status: { lastActivity } })
    const found = async () => namesOf(await revoke({ users: ['bob'], unusedSince: seconds(60) }, { dryRun: true }))
    expect([(await write('2999-01-01T00:00:00Z')).json.status.lastActivity, await found()]).toEqual([
      undefined,
      ['bob'],
    ])
    expect([(await write(seconds(120))).json.status.lastActivity, await found()]).toEqual([undefined, ['bob']])
    const past = seconds(-60)
    expect((await write(past)).json.status.lastActivity).toBe(past)
  })
})

describe('a revocation is refused', () => {
  const none = 'spec: Required value: set a field that selects keys, or spec.all'
  // threat: revocation-1, revocation-8
  test.each<[string, object, string | RegExp]>([
    ['without a selection', {}, none],
    ['with an action alone', { action: 'Delete', atMost: 5, unscoped: false, all: false }, none],
    [
      'with all and a selection',
      { all: true, users: ['alice'] },
      'spec.users: Forbidden: may not be set with spec.all',
    ],
    [
      'with two kinds of owners',
      { users: ['a'], teams: ['b'] },
      'spec.teams: Forbidden: may not be set with spec.users: a key has one owner',
    ],
    ['with an empty selector', { selector: {} }, /^spec.selector: Invalid value: .*empty selector is invalid/],
    ['with empty parts of a selector', { selector: { matchLabels: {}, matchExpressions: [] } }, /empty selector/],
    ['with an empty list', { users: [], types: ['User'] }, /^spec.users: Invalid value: .*must not be empty/],
    ['with an empty name', { users: [''] }, /^spec.users\[0\]: Invalid value: "": must not be empty/],
    ['with a null', { users: null, types: ['User'] }, /^spec.users: Invalid value: "null"/],
    [
      'with a null label',
      { selector: { matchLabels: { env: null } } },
      /^spec.selector.matchLabels.env: Invalid value: "null"/,
    ],
    ['with an unknown type', { types: ['user'] }, /^spec.types\[0\]: Unsupported value: "user"/],
    ['with an unknown action', { all: true, action: 'delete' }, /^spec.action: Unsupported value: "delete"/],
    ['with no time', { createdBefore: 'yesterday' }, /^spec.createdBefore: Invalid value/],
    ['with a day that is none', { createdBefore: '2026-02-30T00:00:00Z' }, /^spec.createdBefore: Invalid value/],
    ['with a time in the future', { createdBefore: future() }, /^spec.createdBefore: .*must not be in the future/],
    ['with a use in the future', { unusedSince: future() }, /^spec.unusedSince: .*must not be in the future/],
    ['with a maker without a name', { madeWith: {} }, 'spec.madeWith: Required value: set name or uid'],
    [
      'with a maker that is not there',
      { madeWith: { name: 'nobody' } },
      /^spec.madeWith.name: .*for a deleted key, give the uid/,
    ],
    [
      'with a name and a uid that differ',
      { madeWith: { name: 'tool', uid: 'x' } },
      /^spec.madeWith.uid: .*has another uid/,
    ],
    ['with a reason for a deletion', { all: true, action: 'Delete', reason: 'x' }, /^spec.reason: Forbidden/],
    ['with a long reason', { all: true, reason: 'x'.repeat(257) }, /^spec.reason: Too long/],
    [
      'with a credential in the reason',
      { all: true, reason: `mpk_${'x'.repeat(49)}` },
      /^spec.reason: Forbidden: must not contain a credential/,
    ],
    ['with a reason of two lines', { all: true, reason: 'a\nb' }, /^spec.reason: .*must be printable/],
    ['with a negative limit', { all: true, atMost: -1 }, /^spec.atMost: Invalid value: -1/],
    [
      'with more keys than its limit',
      { all: true, atMost: 7 },
      'spec.atMost: Invalid value: 7: the request selects 8 access keys, and has changed nothing',
    ],
    ['with a limit of 0', { names: ['bob'], atMost: 0 }, /^spec.atMost: Invalid value: 0/],
    ['with too many names', { names: Array.from({ length: 1001 }, (_, i) => `n${i}`) }, /^spec.names: Too many/],
    [
      'with expressions that Kubernetes refuses',
      { selector: { matchExpressions: [{ key: 'env', operator: 'In' }] } },
      "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    ],
  ])('when it is not clear, or selects too much: %s', async (_, spec, cause) => {
    const answer = await revoke(spec)
    expect(answer.status).toBe(422)
    expect(causesOf(answer)).toEqual([typeof cause === 'string' ? cause : expect.stringMatching(cause)])
    expect(await isDisabled('bob')).toBe(false)
  })

  // threat: revocation-1
  test.each<[string, unknown]>([
    ['with a misspelled field', { apiVersion, kind, spec: { types: ['User'], user: ['alice'] } }],
    ['with a misspelled field inside', { apiVersion, kind, spec: { madeWith: { name: 'tool', descendents: false } } }],
    ['with a field beside spec', { apiVersion, kind, users: ['alice'], spec: { all: true } }],
    ['with a field in metadata', { apiVersion, kind, metadata: { users: ['alice'] }, spec: { all: true } }],
    ['with a field in status', { apiVersion, kind, status: { users: ['alice'] }, spec: { all: true } }],
    ['with a field twice', '{"spec":{"types":["Other"],"types":["User"]}}'],
  ])('%s, whatever the client wants to be ignored', async (_, body) => {
    for (const query of ['', '?fieldValidation=Ignore', '?fieldValidation=Warn', '?fieldValidation=Strict'])
      expect([query, (await send(body, { query })).status]).toEqual([query, 400])
  })
})

describe('a dry run', () => {
  // threat: revocation-8
  test('selects what the request itself then disables', async () => {
    const owners = ['u1', 'u2', 'u3']
    const everyone = Array.from({ length: 12 }, (_, index) => `p-${index}`)
    const some = <T>(list: T[]) => fc.subarray(list, { minLength: 1 })
    const matchExpressions = some([
      { key: 'l', operator: 'In', values: ['a', 'b'] },
      { key: 'l', operator: 'NotIn', values: ['a'] },
      { key: 'l', operator: 'Exists' },
      { key: 'l', operator: 'DoesNotExist' },
    ])
    const spec = fc.record(
      {
        users: some(owners),
        types: some(['', 'User', 'Other']),
        unscoped: fc.boolean(),
        names: some(everyone),
        selector: fc.record({ matchExpressions }),
        madeWith: fc.record({ name: fc.constant('tool'), descendants: fc.boolean() }),
      },
      { requiredKeys: [] },
    )
    for (let index = 0; index < 12; index++) {
      const type = ['', 'User', 'Other'][index % 3]
      const labels = index % 4 === 3 ? {} : { l: ['a', 'b', 'c'][index % 4] }
      const own = { user: owners[index % 3], type, ...(index % 5 === 0 && { scope }) }
      await make(`p-${index}`, own, { labels }, index % 2 ? tool : undefined)
    }
    await fc.assert(
      fc.asyncProperty(spec, async (asked) => {
        if (Object.keys(asked).every((member) => member === 'unscoped')) return
        const own = { ...asked, users: asked.users ?? owners }
        for (const name of everyone)
          await server.patch(`/apis/management.platform/v1/ownedaccesskeys/${name}`, { spec: { disabled: false } })
        const tried = await revoke(own, { dryRun: true })
        const before = await Promise.all(everyone.map(isDisabled))
        expect(before).not.toContain(true)
        const { json } = await revoke(own)
        const disabled = []
        for (const name of everyone) if (await isDisabled(name)) disabled.push(name)
        expect(namesOf(tried)).toEqual(disabled.sort())
        expect(json.status).toEqual(tried.json.status)
      }),
      runs(50),
    )
  })
})
