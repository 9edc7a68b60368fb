/** Serves a third kind with the example of the engine: what it takes is in this file. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { serve } from '../../../lib/engine/example/serve.ts'
import { int32, object, string } from '../../../lib/engine/meta/schema/schema.ts'
import { column } from '../../../lib/engine/registry/column.ts'
import type { StoredKind } from '../../../lib/engine/registry/kind.ts'
import { itemsOf } from '../../../lib/engine/storage/sqlite/sqlite.ts'
import { openTable } from '../../../lib/engine/storage/sqlite/table.ts'
import type { Json } from '../../conformance/scenario.ts'

const Shelf: StoredKind = {
  archetype: 'stored',
  group: 'example.test',
  version: 'v1',
  kind: 'Shelf',
  plural: 'shelves',
  singular: 'shelf',
  scope: 'Namespaced',
  description: 'A shelf in a room.',
  schema: {
    spec: object('What the shelf holds.', {
      label: string('The text on the shelf.', { maxLength: 20 }),
      books: int32('The number of books.', { minimum: 0 }),
    }),
  },
  table: { resource: 'shelves', partitions: () => [], activity: false },
  columns: [column('Books', 'spec.books', 'The number of books.', { type: 'integer' })],
  selectableFields: ['spec.label'],
  strategy: () => ({ access: () => ({ type: 'allowed' }) }),
}

test('a third kind is served: validated, listed by a field, in a table, in discovery and in OpenAPI', async () => {
  const server = serve([Shelf], itemsOf(openTable(':memory:', Date.now), Date.now)).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close().closeAllConnections())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const shelves = '/apis/example.test/v1/namespaces/hall/shelves'
  const send = async (path: string, body?: object, accept = 'application/json') => {
    const sent = body && { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { ...sent, headers: { accept, ...sent?.headers } })
    return { code: answer.status, json: (await answer.json()) as Json }
  }
  const shelf = (name: string, books: number) => ({ metadata: { name }, spec: { label: name, books } })
  expect((await send(shelves, shelf('low', -1))).json.message).toContain('spec.books: Invalid value: -1')
  expect((await send(shelves, shelf('high', 3))).code).toBe(201)
  expect((await send(shelves, shelf('wide', 5))).json.metadata).toMatchObject({ generation: 1, namespace: 'hall' })
  const { json } = await send(`${shelves}?fieldSelector=spec.label%3Dwide`)
  expect(json.items).toMatchObject([{ metadata: { name: 'wide' } }])
  const table = await send(shelves, undefined, 'application/json;as=Table;v=v1;g=meta.k8s.io')
  expect(table.json.rows.map(({ cells }: Json) => cells.slice(0, 2))).toEqual([
    ['high', 3],
    ['wide', 5],
  ])
  expect((await send('/apis/example.test/v1')).json.resources).toHaveLength(1)
  expect((await send('/openapi/v3/apis/example.test/v1')).json.components.schemas).toHaveProperty([
    'test.example.v1.Shelf',
  ])
})
