/** Defines the kinds of the example: notes, which are in namespaces, and lamps, whose status is a subresource. */
import { boolean, object, string } from '../meta/schema/schema.ts'
import type { KubeObject } from '../meta/types.ts'
import { column } from '../registry/column.ts'
import type { Planned, StoredKind, Strategy, Write } from '../registry/kind.ts'

const place = { group: 'example.test', version: 'v1', archetype: 'stored' } as const
const open: Strategy = { access: () => ({ type: 'allowed' }) }

export const Note: StoredKind = {
  ...place,
  kind: 'Note',
  plural: 'notes',
  singular: 'note',
  scope: 'Namespaced',
  description: 'A text in a namespace.',
  schema: { spec: object('What the note says.', { text: string('The text.', { maxLength: 200 }) }) },
  table: { resource: 'notes', partitions: () => [], activity: false },
  columns: [column('Text', 'spec.text', 'The text.')],
  selectableFields: ['spec.text'],
  strategy: () => open,
}

/** Says on every write of a lamp whether its switch has changed since the status was reported. */
function plan({ type, draft }: Write): Planned {
  const isStale = ({ spec, status }: KubeObject) => status?.lit !== undefined && status.lit !== spec?.on
  return type === 'update' && isStale(draft.object) ? { warnings: ['the lamp has not followed its switch yet'] } : {}
}

export const Lamp: StoredKind = {
  ...place,
  kind: 'Lamp',
  plural: 'lamps',
  singular: 'lamp',
  shortNames: ['lp'],
  scope: 'Cluster',
  description: 'A lamp with a switch.',
  schema: {
    spec: object('What the lamp should do.', { on: boolean('The position of the switch.') }),
    status: object('What the lamp does.', { lit: boolean('Whether it gives light.') }),
  },
  table: { resource: 'lamps', partitions: () => [], activity: false },
  columns: [
    column('On', 'spec.on', 'The position of the switch.', { type: 'boolean', absent: false }),
    column('Lit', 'status.lit', 'Whether it gives light.', { type: 'boolean', absent: false }),
  ],
  selectableFields: [],
  strategy: () => ({ ...open, plan }),
}
