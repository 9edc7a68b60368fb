import { describe, expect, test } from 'vitest'
import { useFunctions } from '../../support/functions.ts'
import { alice, bob, withScopes } from '../../support/users.ts'
import { accessKeys, callsOf, objectOf, status } from '../stored/fixtures.ts'

const functions = useFunctions()
const { call, make, read, patch, remove } = callsOf(functions, accessKeys)
const apply = (name: string, spec: object, user = alice) =>
  patch(name, 'apply', objectOf(accessKeys, { name }, spec), { user, query: { fieldManager: 'tester' } })
const merge = (name: string, spec: object, user = alice) => patch(name, 'merge', { spec }, { user })

// An apply can create: only its response contains the key.
test('returns the key that an apply creates', async () => {
  const { status: code, json } = await apply('applied-key', {})
  expect([code, json.spec.key]).toEqual([201, expect.stringMatching(/^mpk_/)])
  const again = await apply('applied-key', { displayName: 'x' })
  expect([again.status, again.json.spec]).toEqual([200, { displayName: 'x' }])
})

describe('201 and 200', () => {
  const times = 8
  const answersWith = (answers: readonly { status: number }[], code: number) =>
    answers.filter((one) => one.status === code)
  const atOnce = (name: string, spec: object, user = alice) =>
    Promise.all(Array.from({ length: times }, () => apply(name, spec, user)))

  test('of concurrent applies, only the response of the one that creates contains the key', async () => {
    const answers = await atOnce('raced', {})
    expect([answersWith(answers, 201).length, answersWith(answers, 200).length]).toEqual([1, times - 1])
    expect(answers.filter(({ json }) => 'key' in json.spec).map(({ status: code }) => code)).toEqual([201])
  })

  test('accepts the same supplied key in all concurrent applies', async () => {
    const answers = await atOnce('supplied', { key: 'supplied-by-all-of-them-0123456789-' })
    expect([answersWith(answers, 201).length, answersWith(answers, 200).length]).toEqual([1, times - 1])
    expect((await read('supplied')).metadata.generation).toBe(1)
  })

  // The audit record names the issued credential: none if another request created the key first.
  test('only the audit record of the apply that creates says that a key was issued', async () => {
    await atOnce('recorded', {})
    const records = functions
      .get()
      .log.map((line) => JSON.parse(line))
      .filter(({ message, name }) => message === 'audit' && name === 'recorded')
    expect(records.length).toBe(times)
    expect(records.filter(({ credential }) => credential).map(({ code }) => code)).toEqual([201])
  })

  test('answers 404 if another user has created a hidden key meanwhile', async () => {
    const spec = { displayName: 'x' }
    const answers = await Promise.all([alice, bob, alice, bob].map((user) => apply('claimed', spec, user)))
    const codes = answers.map(({ status: code }) => code)
    const [own, others] = [0, 1].map((first) => [codes[first], codes[first + 2]].sort())
    expect([own, others].sort()).toEqual([
      [200, 201],
      [404, 404],
    ])
  })
})

// The authorizer allowed a patch. An apply that creates also needs the verb create.
test('403 for an apply that creates, with a scope that allows only patch', async () => {
  const patcher = withScopes(alice, { rules: [{ verbs: ['patch'], resources: [{ group: 'management.platform' }] }] })
  const { status: code, json } = await apply('not-made', {}, patcher)
  expect([code, json]).toEqual([403, status(403, 'Forbidden', expect.stringContaining('cannot create'))])
})

describe('409', () => {
  /** A request in flight must not undo the revocation of its key. */
  const self = ({ name, uid, generation }: { name: string; uid: string; generation: number }) => ({
    ...alice,
    key: { name, uid, generation, type: '', user: 'alice' },
  })
  const why = 'the access key of the request has been changed since the request was allowed'
  const conflict = (name: string) =>
    status(409, 'Conflict', `Operation cannot be fulfilled on ownedaccesskeys.management.platform "${name}": ${why}`)

  // threat: use-5
  test.each<[object, object]>([
    [{ disabled: true }, { disabled: false }],
    [{ scope: {} }, { scope: null }],
    [{ key: 'the-value-after-rotation-0123456789' }, { key: 'the-value-of-the-holder-0123456789' }],
    [{ ttl: 60 }, { ttl: 0 }],
    [{ description: 'x' }, {}],
  ])('for a key that was changed by %j and changes itself by %j', async (change, undo) => {
    const name = `changed-${Object.keys(change)}`
    const { metadata } = await make({ name }, { user: 'alice' })
    await merge(name, change)
    const before = await read(name)
    const { status: code, json } = await merge(name, undo, self(metadata))
    expect([code, json]).toEqual([409, conflict(name)])
    expect(await read(name)).toEqual(before)
    expect((await merge(name, undo, self(before.metadata))).status).toBe(200)
  })

  test('but not after a change of labels, and not for changes by others', async () => {
    const { metadata } = await make({ name: 'labelled' }, { user: 'alice' })
    await patch('labelled', 'merge', { metadata: { labels: { a: 'b' } } })
    expect((await merge('labelled', { disabled: true }, self(metadata))).status).toBe(200)
    expect((await merge('labelled', { disabled: false })).status).toBe(200)
  })

  // threat: use-5
  test('for a deleted key that creates itself again', async () => {
    const { metadata } = await make({ name: 'deleted' }, { user: 'alice' })
    await remove('deleted')
    const taken = status(409, 'AlreadyExists', 'ownedaccesskeys.management.platform "deleted" already exists')
    const applied = await apply('deleted', {}, self(metadata))
    const body = objectOf(accessKeys, { name: 'deleted' })
    const created = await call('create', { user: self(metadata), body })
    expect([applied.json, created.json]).toEqual([taken, taken])
    expect((await read('deleted')).code).toBe(404)
  })
})

// An apply must not reveal, by a creation or a conflict, that another user's object exists.
test("404 for an apply to another user's key", async () => {
  await make({ name: 'alices' })
  expect((await apply('alices', {}, bob)).status).toBe(404)
})

// A patch sees an object without its write-only values.
test('422 for a JSON patch test of spec.key, whatever its value', async () => {
  await make({ name: 'probed' }, { user: 'alice', key: 'a-value-to-be-guessed-0123456789-' })
  const guess = [{ op: 'test', path: '/spec/key', value: 'a-value-to-be-guessed-0123456789-' }]
  expect(await patch('probed', 'json', guess)).toMatchObject({ status: 422 })
  const copy = [{ op: 'copy', from: '/spec/key', path: '/spec/description' }]
  const { text } = await patch('probed', 'json', copy)
  expect(text).not.toContain('a-value-to-be-guessed')
  expect((await read('probed')).spec).toEqual({ user: 'alice' })
})
