import { describe, expect, test } from 'vitest'
import { useFunctions } from '../../support/functions.ts'
import { accessKeys, callsOf, instances, providers, trusts } from '../stored/fixtures.ts'

const functions = useFunctions()
const { call, make, read } = callsOf(functions, accessKeys)

// Lambda responses are limited to 6 MB, but the client must still learn the result.
// threat: gateway-12
test('deletes more objects than a response can contain', async () => {
  const names = ['large-a', 'large-b', 'large-c', 'large-d', 'large-e']
  const spec = { user: 'alice', description: 'x'.repeat(1.4 * 1024 * 1024) }
  for (const name of names) await make({ name, labels: { large: 'yes' } }, spec)
  const { status, json } = await call('deletecollection', { query: { labelSelector: 'large' }, body: null })
  expect([status, json.kind, json.status]).toEqual([200, 'Status', 'Success'])
  expect(json.details).toEqual({ group: 'management.platform', kind: 'ownedaccesskeys' })
  const left = await Promise.all(names.map(async (name) => (await read(name)).code))
  expect(left).toEqual([404, 404, 404, 404, 404])
})

describe('a misspelled selector', () => {
  const unknown = (name: string, meant: string) =>
    `unknown query parameter ${JSON.stringify(name)}: objects of a collection are selected with ${meant}`
  const spellings: [string, string][] = [
    ...['labelselector', 'LabelSelector', 'label_selector', 'label-selector', 'labelSelector[]', 'labelSelectors'],
    ...['label', 'labels', 'l', '-l', 'Labels'],
  ].map((name) => [name, 'labelSelector'])
  const others: [string, string][] = [
    ...['fieldselector', 'field', 'fields', 'field.selector'].map((name): [string, string] => [name, 'fieldSelector']),
    ...['selector', 'lableSelector', 'podSelector'].map((name): [string, string] => [
      name,
      name.startsWith('l') ? 'labelSelector' : 'labelSelector or fieldSelector',
    ]),
  ]

  // threat: revocation-3
  test.each([...spellings, ...others])('%j is a 400 that names %s, and deletes nothing', async (name, meant) => {
    const kept = `kept-${name.replace(/[^a-z]/gi, '').toLowerCase()}`
    await call('create', { body: { metadata: { name: kept }, spec: { user: 'alice' } } })
    const { status, json } = await call('deletecollection', { query: { [name]: 'app=x' }, body: null })
    expect([status, json.message]).toEqual([400, unknown(name, meant)])
    expect((await read(kept)).kind).toBe('OwnedAccessKey')
    // A list stays as Kubernetes has it.
    expect((await call('list', { query: { [name]: 'app=x' } })).status).toBe(200)
  })

  test.each([instances, providers, trusts])('is refused for $plural too', async (stored) => {
    const { parameters } = stored
    const query = { labelselector: 'app=x' }
    const answer = await callsOf(functions, stored).call('deletecollection', { parameters, query, body: null })
    expect([answer.status, answer.json.message]).toEqual([400, unknown('labelselector', 'labelSelector')])
  })

  // threat: revocation-3
  test.each(['labelSelector', 'fieldSelector', 'selector'])('%s in the body is refused', async (member) => {
    const { status, json } = await call('deletecollection', { query: {}, body: { [member]: 'metadata.name=x' } })
    expect([status, json.message]).toEqual([
      400,
      expect.stringContaining(`unknown field "${member}" in the body: objects of a collection are selected with`),
    ])
  })

  // threat: revocation-3
  test.each(['labelSelector', 'fieldSelector'])('%s twice with different values is refused', async (name) => {
    await make({ name: `two-${name.toLowerCase()}` })
    const remove = (...values: string[]) => call('deletecollection', { query: { [name]: values }, body: null })
    const value = 'metadata.name=nothing'
    const { status, json } = await remove(value, 'metadata.name!=nothing')
    expect([status, json.message]).toEqual([400, `${name} is given more than once, with different values`])
    expect((await read(`two-${name.toLowerCase()}`)).kind).toBe('OwnedAccessKey')
    expect((await remove(...(name === 'fieldSelector' ? [value, value] : ['none', 'none']))).status).toBe(200)
  })

  test('parameters that are no selector are ignored, as in Kubernetes', async () => {
    const query = { labelSelector: 'none', fieldManager: 'a', timeout: '30s', ll: 'x', labeled: 'x' }
    expect((await call('deletecollection', { query, body: null })).status).toBe(200)
  })
})
