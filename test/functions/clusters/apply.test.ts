/** Tests that tools which apply clusters again and again, such as Terraform and Argo CD, see no drift. */
import { expect, test } from 'vitest'
import { useFunctions } from '../../support/functions.ts'
import { callsOf, clusters, objectOf } from '../stored/fixtures.ts'

const functions = useFunctions()
const { call, patch } = callsOf(functions, clusters)
const apply = (spec: object) =>
  patch('eu', 'apply', objectOf(clusters, { name: 'eu' }, spec), { query: { fieldManager: 'terraform' } })

test('the server adds nothing to what is applied, and the same apply changes nothing', async () => {
  const spec = { server: 'https://eu.example.com', access: [{ verbs: ['use'], teams: ['shop'] }] }
  const first = await apply(spec)
  expect([first.status, first.json.spec, first.json.status]).toEqual([201, spec, { canUse: true }])
  const again = await apply(spec)
  expect([again.status, again.json.metadata]).toEqual([200, first.json.metadata])
  const named = await apply({ ...spec, tokens: 'Issuer' })
  expect([named.json.spec.tokens, named.json.metadata.generation]).toEqual(['Issuer', 2])
})

test('lists select by the address, and tables show the address, the tokens and whether the reader may use the cluster', async () => {
  const list = async (server: string, accept: string) =>
    (await call('list', { query: { fieldSelector: `spec.server=${server}` }, headers: { accept } })).json
  const table = await list('https://eu.example.com', 'application/json;as=Table;v=v1;g=meta.k8s.io')
  expect(table.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual([
    'Name',
    'Server',
    'Can Use',
    'Tokens',
    'Display Name',
    'Age',
  ])
  expect(table.rows[0].cells.slice(0, 4)).toEqual(['eu', 'https://eu.example.com', true, 'Issuer'])
  expect((await list('https://us.example.com', 'application/json')).items).toEqual([])
})
