/** Tests that the deletion of a cluster says what it leaves behind. */
import { expect, test } from 'vitest'
import { useFunctions } from '../../support/functions.ts'
import type { Answer } from '../../support/request.ts'
import { callsOf, clusters, instances } from '../stored/fixtures.ts'

const functions = useFunctions()
const calls = callsOf(functions, clusters)
const warningsIn = ({ headers }: Answer): string[] => [headers.warning ?? []].flat()
const warning = (name: string) =>
  `299 - "access keys whose scopes allow cluster \\"${name}\\" still make tokens for it, which it accepts until its API server is disconnected: deleting the object ends no access"`

test('a deletion has a Warning, also as a dry run, with finalizers and of a collection', async () => {
  await calls.make({ name: 'one' })
  await calls.make({ name: 'two', finalizers: ['example.com/keep'], labels: { gone: 'yes' } })
  const warningsOf = async (verb: string, more: object) => warningsIn(await calls.call(verb, { body: null, ...more }))
  expect(await warningsOf('delete', { parameters: { name: 'one' }, query: { dryRun: 'All' } })).toEqual([
    warning('one'),
  ])
  expect(await warningsOf('delete', { parameters: { name: 'one' } })).toEqual([warning('one')])
  expect(await warningsOf('delete', { parameters: { name: 'one' } })).toEqual([])
  expect(await warningsOf('deletecollection', { query: { labelSelector: 'gone=yes' } })).toEqual([warning('two')])
})

test('other kinds have none', async () => {
  const { make, remove } = callsOf(functions, instances)
  await make({ name: 'silent' })
  expect(warningsIn(await remove('silent'))).toEqual([])
})
