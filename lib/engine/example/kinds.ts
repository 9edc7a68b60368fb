/** Defines the kinds of the example: notes, which are in namespaces, and lamps, whose status is a subresource. */
import { boolean, object, string } from '../meta/schema/schema.ts'
import { column } from '../registry/column.ts'
import type { StoredKind, Strategy } from '../registry/kind.ts'

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
  columns: [column('On', 'spec.on', 'The position of the switch.', { type: 'boolean', absent: false })],
  selectableFields: [],
  strategy: () => ({
    ...open,
    plan({ type, draft }) {
      const isStale = type === 'update' && draft.object.status?.lit === !draft.object.spec?.on
      return isStale ? { warnings: ['the lamp has not followed its switch yet'] } : {}
    },
  }),
}
