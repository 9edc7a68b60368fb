/** Generates JSON patches whose operations mostly fit objects of the stored kinds. */
import type { Json } from '../conformance/scenario.ts'
import { finalizersOf, managedFieldsOf, ownerReferencesOf } from './metadata.ts'
import type { Random } from './random.ts'
import { literal } from './values.ts'

const values: Readonly<Record<string, readonly Json[]>> = {
  '/metadata/labels': [{ a: 'x' }, {}, null, { a: 5 }],
  '/metadata/labels/a': ['x', 'y', 5, null, 'bad value'],
  '/metadata/labels/example.com~1x': ['x', ''],
  '/metadata/annotations': [{ n: 'v' }, { b: '' }],
  '/metadata/annotations/n': ['v', 'w', null],
  '/metadata/finalizers': [['example.com/f1'], [], null],
  '/metadata/finalizers/-': ['example.com/f2', 'bad fin'],
  '/metadata/finalizers/0': ['example.com/f1'],
  '/metadata/resourceVersion': ['{{rv_a}}', '{{first_a}}', '', '0', null, 5],
  '/metadata/uid': ['{{uid_a}}', 'other', '', null],
  '/metadata/name': ['{{run}}-a', 'other', '', null],
  '/metadata/namespace': ['{{run}}', 'other', ''],
  '/metadata/generation': [7, '7'],
  '/metadata/creationTimestamp': ['2020-01-02T03:04:05Z', null, 'bad'],
  '/metadata/deletionTimestamp': ['2020-01-02T03:04:05Z', null],
  '/metadata/generateName': ['x-', 'Bad-'],
  '/metadata/unknown': [1],
  '/metadata': [{ name: '{{run}}-a' }, {}, null, 'text'],
  '/spec': [{ displayName: 'p' }, {}, null, [], 'text'],
  '/spec/displayName': [
    'p',
    'q',
    '',
    null,
    5,
    '<b>',
    literal('"\\u0070"'),
    literal('"\\u003cb\\u003e"'),
    literal('1e6'),
  ],
  '/spec/description': ['p', 'q'],
  '/spec/owner': [{ user: 'u' }, {}],
  '/spec/owner/user': ['u', 'v'],
  '/spec/access': [[{ verbs: ['get'] }], []],
  '/spec/access/-': [{ verbs: ['get'], users: ['u'] }, {}, null],
  '/spec/access/0': [{ verbs: ['list'] }],
  '/spec/access/0/verbs/0': ['watch'],
  '/spec/access/1/verbs': [['get']],
  '/spec/ttl': [5, -1, '5', 1.5, literal('5.0'), literal('5e0'), literal('1e3'), 1000, literal('-1e6')],
  '/spec/groups': [['g'], []],
  '/spec/groups/-': ['g', 'h'],
  '/spec/unknown': [1, { x: 1 }],
  '/status': [{ phase: 'P' }, {}, null],
  '/status/phase': ['P', 'Q', 5],
  '/status/conditions': [[{ type: 'A', status: 'True' }, { type: 'A' }], [{ type: 'A' }], [{ status: 'True' }]],
  '/status/conditions/-': [{ type: 'B' }, { type: 'A' }],
  '/kind': ['Other', 'VirtualClusterInstance', null, 5],
  '/apiVersion': ['v1', 'management.platform/v1', null],
  '/unknown': [1],
  '': [{}, null, [], 5],
}
const paths = Object.keys(values)
const oddPaths = [
  '/no/such/path',
  'noslash',
  '/spec/',
  '/spec//x',
  '/metadata/labels/~2',
  '/metadata/finalizers/99',
  '/-',
  '/spec/access/-1',
]

const anyValue = (path: string, random: Random, oddness: number): Json => {
  if (path === '/metadata/managedFields') return managedFieldsOf(random, oddness)
  if (path === '/metadata/ownerReferences') return ownerReferencesOf(random, oddness)
  if (path === '/metadata/finalizers' && random.chance(0.5)) return finalizersOf(random, oddness)
  return random.pick(values[path] ?? ['x', 1, {}, null])
}

function operation(random: Random, oddness: number): Json {
  const all = [
    ...paths,
    '/metadata/managedFields',
    '/metadata/ownerReferences',
    ...(random.chance(oddness) ? oddPaths : []),
  ]
  const path = random.pick(all)
  const op = random.chance(oddness / 3)
    ? random.pick(['merge', '', 'ADD', 5, null])
    : random.pick(['add', 'add', 'add', 'replace', 'replace', 'remove', 'test', 'copy', 'move'])
  const one: Json = { op, path }
  // Recorded answers replace a resourceVersion by its alias only in its own field.
  if (op === 'copy' || op === 'move')
    one.from = random.pick(all.filter((from) => !/^(\/metadata(\/resourceVersion)?)?$/.test(from)))
  else if (op !== 'remove') one.value = anyValue(path, random, oddness)
  if (random.chance(oddness / 4)) one.extra = 1
  if (random.chance(oddness / 4)) delete one[random.pick(['path', 'value', 'from', 'op'])]
  return one
}

export function jsonPatchOf(random: Random, oddness: number): Json {
  if (random.chance(oddness / 6)) return random.pick([{}, 'text', 5, null, [5], [null], [[]]])
  return Array.from({ length: 1 + random.below(3) }, () => operation(random, oddness))
}
