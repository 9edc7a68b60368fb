/** Compares the table of kinds with what exists for each kind: its module, functions, routes, grants and sample events. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { RequestEvent } from '../infra/local/gateway/events.ts'
import { kinds } from '../lib/apis/index.ts'
import { storedKinds } from '../lib/apis/stored.ts'
import { signalPartition } from '../lib/authentication/signals.ts'
import { KINDS, type KindRow, kindRows, MANAGEMENT_GROUP } from '../lib/kinds/kinds.ts'
import { groupVersion } from '../lib/meta/groupversion.ts'
import { rowsOf, slotKey } from '../lib/storage/keys.ts'
import { readRoles } from './infra/roles.ts'
import { usePackagedTemplate } from './support/packagedtemplate.ts'

const root = join(import.meta.dirname, '..')
const refs = {
  Api: 'api',
  Table: 'table',
  'Table.Arn': 'table',
  Pepper: 'pepper',
  AccessKey: 'access-key',
  SigningKey: 'key',
}
const packaged = usePackagedTemplate()

/** What exists for a verb of a kind. */
interface Served {
  /** Path of the function below functions/, and of its event below events/. */
  name: string
  /** How the function makes its handler. */
  handler: string
  /** Sorted. */
  routes: string[]
  /** The operations on the rows of a stored kind, among those that its verbs need. */
  grants: string[]
}

const READ = ['GetItem']
const LIST = [...READ, 'Query']
const WRITE = [...LIST, 'PutItem']

/** The functions of stored kinds: the methods of their routes to the collection and to an object, and their grants. */
const VERBS: Readonly<Record<string, { collection?: string[]; object?: string[]; grants: string[] }>> = {
  create: { collection: ['POST'], grants: WRITE },
  get: { object: ['GET', 'HEAD'], grants: READ },
  list: { collection: ['GET', 'HEAD'], grants: LIST },
  update: { object: ['PUT'], grants: WRITE },
  patch: { object: ['PATCH'], grants: WRITE },
  delete: { object: ['DELETE'], grants: WRITE },
  deletecollection: { collection: ['DELETE'], grants: WRITE },
}

const routesOf = (methods: readonly string[] = [], ...paths: string[]) =>
  methods.flatMap((method) => paths.map((path) => `${method} ${path}`))

/** Returns what the row of a kind says must exist. */
function neededFor(row: KindRow): Served[] {
  const { kind, group, plural, singular, subresource, scope, archetype } = row
  const base = `/kubernetes/management/apis/${groupVersion(row)}`
  const whole = `${base}/${scope === 'Namespaced' ? 'namespaces/{namespace}/' : ''}${plural}`
  const object = `${whole}/{name}`
  if (archetype === 'virtual') {
    const own = subresource ?? 'create'
    // A function of its own folder has the verb in its name.
    const name =
      group === MANAGEMENT_GROUP
        ? `${plural}/${own === 'kubeconfig' ? 'kubeconfig/create' : own}`
        : `reviews/${singular}`
    const handler = `virtualHandler(${kind}, createVirtualHandler)`
    return [{ name, handler, routes: [`POST ${subresource ? `${object}/${subresource}` : whole}`], grants: [] }]
  }
  if (archetype === 'computed') {
    const routes = ['GET', 'HEAD'].map((method) => `${method} ${object}/${subresource}`)
    return [{ name: `${plural}/${subresource}`, handler: `computedKindHandler(${kind}, table)`, routes, grants: [] }]
  }
  return Object.entries(VERBS).map(([verb, { collection, object: methods, grants }]) => {
    const everywhere = scope === 'Namespaced' && verb === 'list' ? [`${base}/${plural}`] : []
    const status = verb === 'delete' ? [] : [`${object}/status`]
    const routes = [...routesOf(collection, whole, ...everywhere), ...routesOf(methods, object, ...status)]
    const maker = verb === 'deletecollection' ? 'deleteCollectionHandler' : `${verb}Handler`
    return { name: `${plural}/${verb}`, handler: `storedHandler(${kind}, ${maker})`, routes: routes.sort(), grants }
  })
}

const moduleOf = (id: string) => packaged.deployment.functions.get(id)?.module.replace(/^functions\//, '')

/** Returns what exists for a function of a kind. */
async function found(name: string, { plural, archetype }: KindRow): Promise<Served> {
  const source = await readFile(join(root, 'functions', `${name}.ts`), 'utf8').catch(() => '')
  const handler = /export const handler = await (.*)\n/.exec(source)?.[1] ?? 'no such function'
  const routes = packaged.deployment.routes
    .filter(({ functionId, resource }) => moduleOf(functionId) === name && resource.startsWith('/kubernetes/'))
    .map(({ method, resource }) => `${method} ${resource}`)
  const roles = readRoles(packaged.text, refs)
  const isGranted = (operation: string) =>
    roles.allows(name, { action: `dynamodb:${operation}`, resource: 'table', partitions: [rowsOf(plural)] })
  return { name, handler, routes: routes.sort(), grants: archetype === 'stored' ? WRITE.filter(isGranted) : [] }
}

describe.each(kindRows)('$kind', (row) => {
  test('has its functions, with their routes and grants', async () => {
    const needed = neededFor(row)
    expect(await Promise.all(needed.map(({ name }) => found(name, row)))).toEqual(needed)
  })

  test('has an event for each function', async () => {
    for (const { name, routes } of neededFor(row)) {
      const text = await readFile(join(root, 'events', `${name}.json`), 'utf8').catch(() => '{}')
      const { httpMethod, resource }: Partial<RequestEvent> = JSON.parse(text)
      expect([name, routes]).toEqual([name, expect.arrayContaining([`${httpMethod} ${resource}`])])
    }
  })
})

test('no function serves a verb that its kind does not have', async () => {
  const needed = new Set(kindRows.flatMap(neededFor).map(({ name }) => name))
  for (const name of packaged.names) {
    const source = await readFile(join(root, 'functions', `${name}.ts`), 'utf8')
    const isOfKind = /(stored|virtual|computedKind)Handler\((?!Namespace\b)/.test(source)
    expect([name, isOfKind]).toEqual([name, needed.has(name)])
  }
})

test('the modules repeat the rows of the table, in their order', () => {
  expect(kinds).toMatchObject(kindRows)
  expect(storedKinds).toMatchObject(kindRows.filter(({ archetype }) => archetype === 'stored'))
  for (const { kind, archetype, schema } of kinds)
    expect([kind, archetype === 'stored' && schema.status === undefined]).toEqual([kind, false])
})

test('the garbage collector gets the exact partitions of the rows, and the publisher of events its own', () => {
  const prefixOf = (pk: string) => pk.slice(0, pk.lastIndexOf('#') + 1)
  const logPrefix = prefixOf(slotKey(KINDS.OwnedAccessKey.plural, 1).pk)
  const signalPrefix = prefixOf(signalPartition(0))
  const filters = packaged
    .ofType('AWS::Lambda::EventSourceMapping')
    .map(([, { Properties }]) => Properties.FilterCriteria.Filters)
  expect(filters.flat().map(({ Pattern }: { Pattern: string }) => JSON.parse(Pattern))).toEqual([
    {
      eventName: ['INSERT', 'MODIFY'],
      dynamodb: { Keys: { pk: { S: storedKinds.map(({ table }) => rowsOf(table.resource)) } } },
    },
    // The publisher of events.
    { eventName: ['INSERT'], dynamodb: { Keys: { pk: { S: [{ prefix: logPrefix }, { prefix: signalPrefix }] } } } },
  ])
})
