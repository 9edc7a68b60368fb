/** Defines a kind with one field of every type, for tests of schema processing. */
import { boolean, int32, int64, list, map, object, string, time } from '../../../../lib/engine/meta/schema/schema.ts'

const role = object(
  'A role.',
  { role: string('Name.'), projects: list('Projects.', string('A project.')) },
  { required: ['role'] },
)

export const spec = object('What is wanted.', {
  displayName: string('Name for people.', { maxLength: 20 }),
  type: string('Who manages it.', { enum: ['', 'User', 'Other'] }),
  ttl: int64('Seconds.', { minimum: 0 }),
  size: int32('Size.', { maximum: 3_000_000_000 }),
  disabled: boolean('Off.'),
  groups: list('Groups.', string('A group.'), { listType: 'set', maxItems: 3 }),
  key: string('The key.', { writeOnly: 'once', minLength: 4, format: 'uri', enum: ['scheme:good'] }),
  code: string('A short code.', { minLength: 2, maxLength: 8, pattern: '^[a-z]+$' }),
  server: string('An address.', { format: 'uri' }),
  parent: string('Another key.', { deprecated: 'spec.identity' }),
  scope: object('What it may do.', {
    roles: list('Roles.', role),
    rules: list(
      'Rules.',
      object('A rule.', { verbs: list('Verbs.', string('A verb.')), old: string('Old.', { deprecated: 'x' }) }),
      { deprecated: 'spec.scope.roles' },
    ),
  }),
  identity: object('Who it is.', {
    email: string('Address.'),
    extraClaims: map('Claims.', string('A claim.')),
    connectorData: string('Hidden.', { writeOnly: 'never' }),
    identityRefresh: time('Last refresh.'),
  }),
})

export const status = object('What is.', {
  phase: string('Phase.', { readOnly: true }),
  lastActivity: time('Last use.'),
  conditions: list(
    'Conditions.',
    object('A condition.', { type: string('Type.'), status: string('Status.') }, { required: ['type', 'status'] }),
    { listType: 'map', keys: ['type'] },
  ),
})

export const example = {
  archetype: 'stored',
  group: 'example.test',
  version: 'v1',
  kind: 'Example',
  plural: 'examples',
  singular: 'example',
  scope: 'Cluster',
  description: 'An example.',
  schema: { spec, status },
} as const
