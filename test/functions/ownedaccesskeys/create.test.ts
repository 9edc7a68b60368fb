import { describe, expect, test } from 'vitest'
import { useFunctions } from '../../support/functions.ts'
import { alice } from '../../support/users.ts'
import { accessKeys, callsOf, objectOf } from '../stored/fixtures.ts'

const functions = useFunctions()
const { call, read } = callsOf(functions, accessKeys)
const create = (name: string, spec: object, user = alice, query: Record<string, string> = {}) =>
  call('create', { user, query, body: objectOf(accessKeys, { name }, spec) })

describe('201', () => {
  // Only this response contains the key.
  test('generates and returns the key', async () => {
    const { json } = await create('shown', {})
    expect(json.spec.key).toMatch(/^mpk_[0-9A-Za-z]{49}$/)
    expect((await read('shown')).spec ?? {}).not.toHaveProperty('key')
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

  test('warns when the line of the key is nearly full, and creates none by any verb when it is full', async () => {
    const descended = (count: number) => ({
      ...alice,
      makers: Array.from({ length: count }, (_, at) => `uid-${at}`),
    })
    const { status: code, headers } = await create('generation-24', { ttl: 60 }, descended(23))
    expect([code, headers.warning?.[0]]).toEqual([201, expect.stringContaining('descends from 24 others')])
    const body = objectOf(accessKeys, { name: 'generation-33' })
    const apply = { query: { fieldManager: 'x' }, headers: { 'content-type': 'application/apply-patch+yaml' } }
    for (const answer of [
      await create('generation-33', {}, descended(32)),
      await create('generation-33', {}, descended(32), { dryRun: 'All' }),
      await call('patch', { user: descended(32), parameters: { name: 'generation-33' }, body, ...apply }),
    ]) {
      expect([answer.status, answer.json.message]).toEqual([403, expect.stringContaining('create this one with a key')])
    }
  })
})
