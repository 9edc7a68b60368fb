/** Generates metadata as clients send it, including server-owned members and mistakes. */
import type { Json } from '../conformance/scenario.ts'
import type { Mood } from './moods.ts'
import type { Random } from './random.ts'

const keys = ['a', 'b', 'example.com/x', 'tier']
const badKeys = ['Bad key', 'a/b/c', '', '-x', 'Example.com/x', `${'k'.repeat(64)}`, `${'p'.repeat(254)}/x`, '/x', 'x/']
const labelValues = ['', 'x', 'y', 'v1.2_3']
const badLabelValues = ['bad value', '-x', 'v'.repeat(64), 'ü', 5, true, null, ['x'], {}]
const finalizers = ['example.com/f1', 'example.com/f2', 'nodomain', 'some.dots']
const badFinalizers = ['bad fin', '', 'a/b/c', 5, null, 'orphan', 'foregroundDeletion', `x/${'f'.repeat(64)}`]
const times = ['2020-01-02T03:04:05Z', '2020-01-02T03:04:05+02:00', '2020-01-02T03:04:05.9Z', null]
const badTimes = ['now', '', '2020-01-02', 5, {}, true]
const uids = ['{{uid_a}}', '{{uid_b}}', 'no-such-uid', '11111111-2222-3333-4444-555555555555']

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'
/** Access keys do not keep unreadable configurations, because they could contain a key. */
const lastConfigurations = [
  '{"apiVersion":"management.platform/v1","kind":"VirtualClusterInstance","metadata":{"name":"a"},"spec":{"displayName":"a"}}',
  '{"apiVersion":"management.platform/v1","kind":"OwnedAccessKey","metadata":{"labels":{"a":"x"}},"spec":{"description":"b"}}',
  '{"spec":{"displayName":"a"}}',
]

export const managers = ['m1', 'm2', 'm3', 'kubectl']

function mapOf(random: Random, oddness: number, values: readonly Json[], badValues: readonly Json[]): Json {
  if (random.chance(oddness / 4)) return random.pick([null, [], 'text', 5, {}])
  const isOdd = () => random.chance(oddness)
  return Object.fromEntries(
    Array.from({ length: random.below(3) }, () => [
      isOdd() ? random.pick(badKeys) : random.pick(keys),
      isOdd() ? random.pick(badValues) : random.pick(values),
    ]),
  )
}

export function finalizersOf(random: Random, oddness: number): Json {
  if (random.chance(oddness / 4)) return random.pick([null, [], 'text', {}])
  return Array.from({ length: random.below(3) }, () =>
    random.chance(oddness) ? random.pick(badFinalizers) : random.pick(finalizers),
  )
}

function ownerReference(random: Random, oddness: number): Json {
  const reference: Json = {
    apiVersion: 'management.platform/v1',
    kind: random.pick(['OwnedAccessKey', 'VirtualClusterInstance']),
    name: random.pick(['{{run}}-a', '{{run}}-b', 'gone']),
    uid: random.pick(uids),
  }
  if (random.chance(0.3)) reference.controller = random.chance(0.5)
  if (random.chance(0.3)) reference.blockOwnerDeletion = random.chance(0.5)
  if (!random.chance(oddness)) return reference
  const member = random.pick(['apiVersion', 'kind', 'name', 'uid', 'controller', 'extra'])
  const value = random.pick(['', null, 5, 'a/b/c', 'v1', true, undefined])
  // Only this API decides whether an owner of an unserved kind may block deletion.
  if (member === 'apiVersion' || member === 'kind') delete reference.blockOwnerDeletion
  if (value === undefined) delete reference[member]
  else reference[member] = value
  return random.chance(0.2) ? random.pick([null, 'text', 5, [], {}]) : reference
}

export function ownerReferencesOf(random: Random, oddness: number): Json {
  if (random.chance(oddness / 4)) return random.pick([null, 'text', {}])
  return Array.from({ length: random.below(3) }, () => ownerReference(random, oddness))
}

const fieldSets: readonly Json[] = [
  { 'f:spec': { 'f:displayName': {} } },
  { 'f:spec': { '.': {}, 'f:displayName': {}, 'f:description': {} } },
  { 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } }, 'f:spec': {} },
  { 'f:status': { 'f:conditions': { '.': {}, 'k:{"type":"A"}': { '.': {}, 'f:type': {} } } } },
  { 'f:metadata': { 'f:finalizers': { 'v:"example.com/f1"': {} }, 'f:name': {} } },
  { 'f:spec': { 'f:access': { 'i:0': {} } } },
  {},
]
const badFieldSets: readonly Json[] = [null, { x: {} }, { 'k:{': {} }, { 'f:spec': 5 }, 'text', [], { 'v:nope': {} }]

function managedFieldsEntry(random: Random, oddness: number): Json {
  const entry: Json = {
    manager: random.pick(managers),
    operation: random.pick(['Apply', 'Update']),
    apiVersion: 'management.platform/v1',
    fieldsType: 'FieldsV1',
    fieldsV1: random.pick(fieldSets),
  }
  if (random.chance(0.6)) entry.time = random.pick(['2020-01-02T03:04:05Z', '2021-01-02T03:04:05+01:00'])
  if (random.chance(0.2)) entry.subresource = 'status'
  if (!random.chance(oddness)) return entry
  const changes: Json[] = [
    { operation: 'Create' },
    { operation: '' },
    { operation: null },
    { apiVersion: 'other/v1' },
    { apiVersion: '' },
    { apiVersion: 'a/b/c' },
    { fieldsType: 'FieldsV2' },
    { fieldsType: '' },
    { fieldsV1: random.pick(badFieldSets) },
    { manager: '' },
    { manager: 'm'.repeat(129) },
    { manager: 5 },
    { time: 'bad' },
    { time: null },
    { subresource: 's'.repeat(257) },
    { extra: 1 },
  ]
  return { ...entry, ...random.pick(changes) }
}

export function managedFieldsOf(random: Random, oddness: number): Json {
  if (random.chance(0.15)) return random.pick([[], [{}], null])
  if (random.chance(oddness / 4)) return random.pick(['text', {}, [null], [[]], [{}, {}]])
  return Array.from({ length: 1 + random.below(2) }, () => managedFieldsEntry(random, oddness))
}

/** Generates members of metadata except name, namespace and resourceVersion. */
export function metadataOf(random: Random, oddness: number, mood: Pick<Mood, 'managedFields' | 'finalizers'>): Json {
  const metadata: Json = {}
  const time = () => (random.chance(0.3) ? random.pick(badTimes) : random.pick(times))
  if (random.chance(0.5)) metadata.labels = mapOf(random, oddness, labelValues, badLabelValues)
  if (random.chance(0.3)) metadata.annotations = mapOf(random, oddness, ['', 'x', 'any text ü'], [5, null, true, {}])
  if (random.chance(mood.finalizers)) metadata.finalizers = finalizersOf(random, oddness)
  if (random.chance(0.03))
    metadata.annotations = { ...metadata.annotations, [lastApplied]: random.pick(lastConfigurations) }
  if (random.chance(0.15)) metadata.ownerReferences = ownerReferencesOf(random, oddness)
  if (random.chance(mood.managedFields + oddness / 4)) metadata.managedFields = managedFieldsOf(random, oddness)
  if (random.chance(oddness / 3)) metadata.uid = random.pick([...uids, '', null, 5])
  if (random.chance(oddness / 3)) metadata.creationTimestamp = time()
  if (random.chance(oddness / 4)) metadata.deletionTimestamp = time()
  if (random.chance(oddness / 4)) metadata.deletionGracePeriodSeconds = random.pick([0, 5, -1, null, '5', 1.5])
  if (random.chance(oddness / 3)) metadata.generation = random.pick([0, 7, -1, null, '7', 1.5])
  if (random.chance(oddness / 6)) metadata.generateName = random.pick(['x-', 'Bad-', '', 5, null])
  if (random.chance(oddness / 6)) metadata.selfLink = random.pick(['', 5])
  if (random.chance(oddness / 6)) metadata.unknown = random.pick([1, {}, null])
  if (random.chance(oddness / 6)) metadata.clusterName = 'c'
  return metadata
}
