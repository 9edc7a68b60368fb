/** Generates sequences of valid and invalid requests for objects of one kind from seeds. */

import { VirtualClusterInstance } from '../../lib/clusters/virtualclusterinstance.ts'
import type { ObjectSchema } from '../../lib/engine/meta/schema/schema.ts'
import type { KindInfo } from '../../lib/engine/registry/kind.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import type { Json, Scenario, Step } from '../conformance/scenario.ts'
import { plainSchema } from './definitions.ts'
import { metadataOf } from './metadata.ts'
import { type ActionName, actionsOf, type Mood, pickMood } from './moods.ts'
import { jsonPatchOf } from './patches.ts'
import { createRandom, type Random } from './random.ts'
import { accept, encodeBody, listQuery, oddVersions, queryText, userAgents, writeQuery } from './requests.ts'
import { sampleObject } from './values.ts'

/** Fields with rules or warnings of this API beyond their schemas. */
const ownRules = [
  ...['user', 'team', 'subject', 'groups', 'type', 'scope', 'parent', 'oidcLogin', 'sourceCIDRs'],
  ...['dropAddedScopes', 'accessPoint', 'certificateAuthorityData', 'credentialsSecretRef', 'tokens'],
  ...['serviceAccounts', 'proxyURL', 'tlsServerName'],
]

interface World {
  random: Random
  /** The probability of invalid values. */
  oddness: number
  mood: Mood
  kind: KindInfo
  spec: ObjectSchema
  status: ObjectSchema
}

const steps = 22

export function generate(seed: number): Scenario {
  const random = createRandom(seed)
  const kind: KindInfo = random.chance(0.7) ? VirtualClusterInstance : OwnedAccessKey
  const oddness = random.pick([0, 0.05, 0.15, 0.4])
  const mood = pickMood(random.pick)
  const { properties, ...spec } = plainSchema(kind.schema.spec)
  const all = Object.entries(properties).filter(([name]) => !ownRules.includes(name))
  const members = mood.members === undefined ? all : Array.from({ length: mood.members }, () => random.pick(all))
  const status = kind.schema.status ?? { type: 'object', description: '', properties: {} }
  const world: World = {
    random,
    oddness,
    mood,
    kind,
    spec: { ...spec, properties: Object.fromEntries(members) },
    status: plainSchema(status),
  }
  const names = actionsOf(mood)
  const first = random.chance(0.7) ? create(world, 'a') : apply(world, 'a')
  const rest = Array.from({ length: steps }, () => actions[random.pick(names)](world, random.pick(mood.names)))
  const sequence = [first, ...rest]
  return {
    file: `seed-${seed}`,
    about: `seed ${seed}`,
    steps: random.chance(0.3) ? appendWatch(world, sequence) : sequence,
  }
}

const actions: Readonly<Record<ActionName, (world: World, name: string) => Step>> = {
  create,
  update,
  mergePatch,
  jsonPatch,
  apply,
  get,
  list,
  remove,
  removeAll,
}

/** Generates the steps, followed by a watch of all changes. */
function appendWatch(world: World, all: readonly Step[]): Step[] {
  const { random } = world
  const selectors = [...runSelector(world), ...(random.chance(0.5) ? [random.pick(['a', '!a', 'a=x', 'b!=x'])] : [])]
  const query = (more: [string, string][]): string =>
    queryText([...more, ...(selectors.length > 0 ? [['labelSelector', selectors.join(',')] as [string, string]] : [])])
  const start = step(world, 'GET', `${collection(world)}${query([])}`)
  const since = query([
    ['watch', 'true'],
    ['resourceVersion', '{{rv_start}}'],
    ['timeoutSeconds', '1'],
  ])
  const watch = { events: 1000, seconds: 10 }
  const first = { ...start, headers: {}, save: { rv_start: '/metadata/resourceVersion' } }
  const changes = { method: 'GET', path: `${collection(world)}${since}`, watch }
  if (random.chance(0.6)) return [first, ...all, changes]
  // Lists before the watch, because the server answers the list only when its cache has seen every write.
  const now = query([
    ['watch', 'true'],
    ['timeoutSeconds', '1'],
    ...(random.chance(0.5) ? [['resourceVersion', '0'] as [string, string]] : []),
  ])
  return [first, ...all, changes, { ...first }, { method: 'GET', path: `${collection(world)}${now}`, watch }]
}

/** Lists of cluster-scoped kinds would show objects of concurrent runs. */
const runSelector = ({ kind }: World): string[] => (kind.scope === 'Cluster' ? ['run={{run}}'] : [])

const isOdd = ({ random, oddness }: World): boolean => random.chance(oddness / 4)

function collection({ kind, random }: World, wild = false): string {
  if (kind.scope === 'Cluster') return wild ? `/namespaces/{{run}}/${kind.plural}` : `/${kind.plural}`
  // Namespaces are not stored here: every one exists.
  return `/namespaces/${wild ? random.pick(['Bad_NS', 'no.dots']) : '{{run}}'}/${kind.plural}`
}

const nameOf = (world: World, name: string): string =>
  isOdd(world) ? world.random.pick(['nope', 'Bad_Name', 'a..b', '-x', `${'n'.repeat(254)}`]) : `{{run}}-${name}`

const item = (world: World, name: string): string => `${collection(world)}/${nameOf(world, name)}`

/** Values of an answer with the object that later steps use. */
const saves = (name: string, isNew = false): Record<string, string> => ({
  [`uid_${name}`]: '/metadata/uid',
  [`rv_${name}`]: '/metadata/resourceVersion',
  ...(isNew && { [`first_${name}`]: '/metadata/resourceVersion' }),
})

/** Returns a selector for the objects of this run in lists of cluster-scoped kinds. */
const runLabel = ({ kind }: World): Json => (kind.scope === 'Cluster' ? { run: '{{run}}' } : undefined)

function typeMeta(world: World): Json {
  const { kind, random } = world
  const right = { apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind }
  if (!isOdd(world)) return right
  return random.pick([
    {},
    { kind: kind.kind },
    { apiVersion: right.apiVersion },
    { ...right, kind: 'Other' },
    { ...right, apiVersion: 'management.platform/v2' },
    { ...right, apiVersion: 'v1' },
    { ...right, apiVersion: '' },
    { ...right, kind: 5 },
    { ...right, apiVersion: 'a/b/c' },
  ])
}

function objectFor(world: World, name: string, density = 0.35): Json {
  const { random, oddness, mood, kind } = world
  const metadata = { ...metadataOf(random, oddness, mood), name: `{{run}}-${name}` }
  if (isOdd(world))
    metadata.name = random.pick(['', 'Bad_Name', '{{run}}-c', null, 5, 'a'.repeat(254), '{{run}}.b', 'x/y'])
  if (isOdd(world)) delete metadata.name
  if (random.chance(0.3) || isOdd(world))
    metadata.namespace = kind.scope === 'Cluster' || isOdd(world) ? 'other' : '{{run}}'
  const label = runLabel(world)
  if (label && !isOdd(world))
    metadata.labels = typeof metadata.labels === 'object' ? { ...metadata.labels, ...label } : label
  const object: Json = { ...typeMeta(world), metadata }
  if (random.chance(0.9)) object.spec = sampleObject(world.spec, random, oddness, density)
  if (random.chance(0.15)) object.status = sampleObject(world.status, random, oddness)
  if (isOdd(world)) object.spec = random.pick([null, [], 'text', 5, {}])
  if (isOdd(world)) object.metadata = {}
  if (isOdd(world)) object[random.pick(['unknown', 'data', 'Spec'])] = random.pick([1, {}, null])
  return object
}

/** Completes a step around its body. */
function step(world: World, method: string, path: string, parts: Partial<Step> & { isList?: boolean } = {}): Step {
  const { random, oddness } = world
  const { isList = false, headers = {}, ...rest } = parts
  const wanted = accept(random, oddness, isList)
  // In YAML, computed members cannot be distinguished from others.
  const asked = world.kind.scope === 'Cluster' && wanted?.includes('yaml') ? undefined : wanted
  const all: Record<string, string | null> = { ...headers, ...(asked !== undefined && { accept: asked }) }
  if (random.chance(0.1)) all['user-agent'] = random.pick(userAgents)
  const tables = asked?.includes('as=Table') ? { ignore: ['/columnDefinitions', '/rows/*/cells'] } : {}
  return { method, path, ...(Object.keys(all).length > 0 && { headers: all }), ...rest, ...tables }
}

function writeBody(world: World, value: Json, type?: string): Partial<Step> {
  const { body, type: actual } = encodeBody(value, world.random, world.oddness, type)
  const isPlain = typeof body !== 'string' && actual === 'application/json'
  return { body, ...(!isPlain && { headers: { 'content-type': actual } }) }
}

function create(world: World, name: string): Step {
  const { random, oddness, mood } = world
  const object = objectFor(world, name)
  if (random.chance(0.06)) {
    if (object.metadata && random.chance(0.7)) delete object.metadata.name
    if (object.metadata)
      object.metadata.generateName = random.pick([
        '{{run}}-g-',
        '{{run}}-g-',
        'Bad-',
        'a.',
        '',
        5,
        `${'g'.repeat(70)}-`,
      ])
  }
  if (isOdd(world) && object.metadata)
    object.metadata.resourceVersion = random.pick(['1', '0', '', 'abc', 5, '00', '01', ...oddVersions('7').slice(3)])
  const isElsewhere = world.kind.scope === 'Cluster' && isOdd(world)
  const path = `${collection(world, isElsewhere)}${queryText(writeQuery(random, oddness, mood.dryRun))}`
  return step(world, 'POST', path, { ...writeBody(world, object), save: saves(name, true) })
}

/** Returns correct and wrong identities of the object for a body. */
function identify(world: World, metadata: Json, name: string): void {
  const { random, mood } = world
  if (!metadata || !random.chance(mood.preconditions)) return
  if (random.chance(0.5)) metadata.uid = random.pick([`{{uid_${name}}}`, `{{uid_${name}}}`, 'other', ''])
  if (random.chance(0.5)) metadata.resourceVersion = random.pick([`{{rv_${name}}}`, `{{first_${name}}}`, '', '0'])
}

function version({ random, oddness }: World, name: string): Json {
  if (random.chance(oddness / 2))
    return random.pick([
      `{{first_${name}}}`,
      '0',
      '',
      'abc',
      5,
      '99999999',
      undefined,
      ...oddVersions(`{{rv_${name}}}`),
    ])
  return `{{rv_${name}}}`
}

const subresource = ({ random, mood }: World): string => (random.chance(mood.status) ? '/status' : '')

function update(world: World, name: string): Step {
  const { random, oddness, mood } = world
  const object = objectFor(world, name, 0.5)
  if (object.metadata) object.metadata.resourceVersion = version(world, name)
  identify(world, object.metadata, name)
  const path = `${item(world, name)}${subresource(world)}${queryText(writeQuery(random, oddness, mood.dryRun))}`
  return step(world, 'PUT', path, { ...writeBody(world, object), save: saves(name) })
}

function partial(world: World, name: string): Json {
  const { random, oddness } = world
  const object = objectFor(world, name)
  if (random.chance(0.8)) {
    delete object.apiVersion
    delete object.kind
  }
  if (object.metadata && random.chance(0.9)) delete object.metadata.name
  if (object.metadata && random.chance(0.1)) object.metadata.resourceVersion = version(world, name)
  identify(world, object.metadata, name)
  if (random.chance(0.5)) delete object.metadata
  const clearMembers = (one: Json): void => {
    if (typeof one !== 'object') return
    for (const member of Object.keys(one ?? {})) {
      if (random.chance(0.15)) one[member] = null
      else if (one[member] !== null && typeof one[member] === 'object' && !Array.isArray(one[member]))
        clearMembers(one[member])
    }
  }
  if (random.chance(0.5)) clearMembers(object.spec)
  if (random.chance(oddness)) clearMembers(object)
  return object
}

const patchType = (world: World, type: string): string =>
  isOdd(world)
    ? world.random.pick([
        'application/strategic-merge-patch+json',
        '',
        'application/json',
        `${type}; charset=utf-8`,
        type.toUpperCase(),
        'application/apply-patch+cbor',
      ])
    : type

function mergePatch(world: World, name: string): Step {
  const { random, oddness, mood } = world
  const path = `${item(world, name)}${subresource(world)}${queryText(writeQuery(random, oddness, mood.dryRun))}`
  const type = patchType(world, 'application/merge-patch+json')
  return step(world, 'PATCH', path, { ...writeBody(world, partial(world, name), type), save: saves(name) })
}

function jsonPatch(world: World, name: string): Step {
  const { random, oddness, mood } = world
  const path = `${item(world, name)}${subresource(world)}${queryText(writeQuery(random, oddness, mood.dryRun))}`
  const type = patchType(world, 'application/json-patch+json')
  return step(world, 'PATCH', path, { ...writeBody(world, jsonPatchOf(random, oddness), type), save: saves(name) })
}

function apply(world: World, name: string): Step {
  const { random, oddness, mood } = world
  const object = objectFor(world, name)
  if (object.metadata && !isOdd(world)) delete object.metadata.managedFields
  dropEmpty(object.metadata)
  if (object.metadata && random.chance(0.1)) delete object.metadata.name
  if (object.metadata && random.chance(0.05)) object.metadata.resourceVersion = version(world, name)
  identify(world, object.metadata, name)
  const path = `${item(world, name)}${subresource(world)}${queryText(writeQuery(random, oddness, mood.dryRun, true))}`
  const type = patchType(world, 'application/apply-patch+yaml')
  return step(world, 'PATCH', path, { ...writeBody(world, object, type), save: saves(name) })
}

/**
 * etcd stores empty applied metadata until the next write, which is therefore no no-op. This API does not store it. Nor
 * does it create objects that are already being deleted.
 */
function dropEmpty(metadata: Json): void {
  delete metadata?.deletionTimestamp
  delete metadata?.deletionGracePeriodSeconds
  const references = Array.isArray(metadata?.ownerReferences) ? metadata.ownerReferences : []
  for (const map of [metadata?.labels, metadata?.annotations, ...references]) {
    for (const [name, value] of Object.entries(map ?? {})) if (value === null) delete map[name]
  }
  for (const [name, value] of Object.entries(metadata ?? {})) {
    if (value === null || value === '' || (typeof value === 'object' && Object.keys(value as object).length === 0))
      delete metadata[name]
  }
}

function get(world: World, name: string): Step {
  const { random } = world
  const query = isOdd(world)
    ? random.pick([
        '?resourceVersion=0',
        '?resourceVersion=abc',
        '?resourceVersion=',
        '?pretty=true',
        '?includeObject=Foo',
        '?resourceVersion=-1',
        '?resourceVersion=99999999',
        ...oddVersions(`{{rv_${name}}}`).map((version) => `?resourceVersion=${version}`),
        '?fieldSelector=metadata.name%3Dx',
      ])
    : random.pick(['', '', `?resourceVersion={{rv_${name}}}`])
  return step(world, 'GET', `${item(world, name)}${subresource(world)}${query}`, { save: saves(name) })
}

function list(world: World): Step {
  const { random, oddness } = world
  const query = listQuery(random, oddness, runSelector(world))
  if (world.kind.scope === 'Namespaced' && random.chance(0.15)) return listEverywhere(world, query)
  const path = `${collection(world, isOdd(world) && world.kind.scope === 'Namespaced')}${queryText(query)}`
  return step(world, 'GET', path, {
    isList: true,
    save: { continue: '/metadata/continue', rv_list: '/metadata/resourceVersion' },
  })
}

/** Lists all namespaces with a selector for one. Continue tokens of kube-apiserver start over in that case. */
function listEverywhere(world: World, query: readonly [string, string][]): Step {
  const selector = world.random.pick([
    'metadata.namespace={{run}}',
    'metadata.namespace={{run}},metadata.name={{run}}-a',
    'metadata.name!={{run}}-a,metadata.namespace={{run}}',
  ])
  const rest = query.filter(([name]) => !['fieldSelector', 'continue'].includes(name))
  const path = `/${world.kind.plural}${queryText([...rest, ['fieldSelector', selector]])}`
  return step(world, 'GET', path, { isList: true, save: { rv_list: '/metadata/resourceVersion' } })
}

function deleteOptions(world: World, name: string): Json {
  const { random } = world
  const options: Json = {}
  if (random.chance(0.3)) options.kind = isOdd(world) ? random.pick(['Other', '', 5]) : 'DeleteOptions'
  if (random.chance(0.3))
    options.apiVersion = isOdd(world)
      ? random.pick(['other/v1', 5])
      : random.pick(['v1', 'meta.k8s.io/v1', 'management.platform/v1'])
  if (random.chance(0.4))
    options.propagationPolicy = isOdd(world)
      ? random.pick(['Foo', '', 5, null])
      : random.pick(['Foreground', 'Background', 'Orphan'])
  if (random.chance(0.1)) options.orphanDependents = isOdd(world) ? random.pick(['true', null]) : random.chance(0.5)
  if (random.chance(0.2))
    options.gracePeriodSeconds = isOdd(world) ? random.pick([-1, '5', null, 1.5]) : random.pick([0, 5])
  if (random.chance(0.2 + world.mood.preconditions)) {
    options.preconditions = random.pick([
      { uid: `{{uid_${name}}}` },
      { resourceVersion: `{{rv_${name}}}` },
      { resourceVersion: `{{first_${name}}}` },
      { resourceVersion: random.pick(oddVersions(`{{rv_${name}}}`)) },
      { uid: 'other' },
      { uid: `{{uid_${name}}}`, resourceVersion: `{{first_${name}}}` },
      {},
      ...(isOdd(world) ? [{ uid: 5 }, null, 'text', { uid: '' }] : []),
    ])
  }
  if (random.chance(0.07 + world.mood.dryRun))
    options.dryRun = isOdd(world) ? random.pick([['true'], 'All', [], null]) : ['All']
  if (isOdd(world)) options.unknown = 1
  return options
}

function remove(world: World, name: string): Step {
  const { random } = world
  const query: [string, string][] = []
  if (random.chance(0.2))
    query.push([
      'propagationPolicy',
      random.pick(['Foreground', 'Orphan', 'Background', ...(isOdd(world) ? ['Foo', ''] : [])]),
    ])
  if (random.chance(world.mood.dryRun)) query.push(['dryRun', isOdd(world) ? 'true' : 'All'])
  if (isOdd(world)) query.push(['orphanDependents', random.pick(['true', 'false', 'x', ''])])
  if (isOdd(world)) query.push(['gracePeriodSeconds', random.pick(['0', 'abc', '-1', ''])])
  const body = random.chance(0.5) ? writeBody(world, deleteOptions(world, name)) : {}
  const path = `${item(world, name)}${isOdd(world) ? '/status' : ''}${queryText(query)}`
  return step(world, 'DELETE', path, { ...body, save: saves(name) })
}

function removeAll(world: World, name: string): Step {
  const { random, oddness } = world
  // A resourceVersion is a precondition on each object here too.
  const query = listQuery(random, oddness, runSelector(world)).filter(([, value]) => value !== '{{rv_list}}')
  const body = random.chance(0.4) ? writeBody(world, deleteOptions(world, name)) : {}
  return step(world, 'DELETE', `${collection(world)}${queryText(query)}`, { isList: true, ...body })
}
