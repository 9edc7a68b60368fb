/** Compares the table of kinds with what exists for each kind: its module and the handlers of its functions. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { functionNames } from '../infra/build.ts'
import { functionsOf } from '../infra/functions.ts'
import { type KindRow, kindRows } from '../lib/kinds.ts'
import { kinds } from '../lib/server/servedkinds.ts'
import { storedKinds } from '../lib/server/storedkinds.ts'

const root = join(import.meta.dirname, '..')
const sourceOf = (path: string) => readFile(join(root, 'functions', `${path}.ts`), 'utf8').catch(() => '')

/** Returns how a function of a kind must make its handler. */
function makerOf({ kind, archetype }: KindRow, path: string): string {
  if (archetype === 'virtual') return `virtualHandler(${kind}, createVirtualHandler)`
  if (archetype === 'computed') return `computedKindHandler(${kind}, table)`
  const verb = path.slice(path.lastIndexOf('/') + 1)
  return `storedHandler(${kind}, ${verb === 'deletecollection' ? 'deleteCollection' : verb}Handler)`
}

test.each(kindRows)('the functions of $kind serve it', async (row) => {
  for (const { path } of functionsOf(row))
    expect([path, await sourceOf(path)]).toEqual([
      path,
      expect.stringContaining(`export const handler = await ${makerOf(row, path)}\n`),
    ])
})

test('no function serves a verb that its kind does not have', async () => {
  const needed = new Set(kindRows.flatMap(functionsOf).map(({ path }) => path))
  for (const path of await functionNames(root)) {
    const isOfKind = /(stored|virtual|computedKind)Handler\((?!Namespace\b)/.test(await sourceOf(path))
    expect([path, isOfKind]).toEqual([path, needed.has(path)])
  }
})

test('the modules repeat the rows of the table, in their order', () => {
  const stored = kindRows.filter(({ archetype }) => archetype === 'stored')
  expect(kinds).toMatchObject(kindRows)
  expect(storedKinds).toMatchObject(stored)
  expect(storedKinds.map(({ table }) => table.resource)).toEqual(stored.map(({ plural }) => plural))
  for (const { kind, archetype, schema } of kinds)
    expect([kind, archetype === 'stored' && schema.status === undefined]).toEqual([kind, false])
})
