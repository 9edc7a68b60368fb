/** Defines the fields of a lookup of an access key by its value. */
import { object, string } from '../engine/meta/schema/schema.ts'

export const spec = object('The value to look up.', {
  key: string('Value of an access key. Never returned.', { writeOnly: 'never' }),
})

export const status = object('The access key that has or had the value. Empty if there is none that you may read.', {
  name: string('Name of the access key.'),
  uid: string('UID of the access key.'),
  phase: string('Ended if the key no longer has the value, otherwise the phase of the access key.', {
    enum: ['Active', 'Disabled', 'Unused', 'Expired', 'Terminating', 'Ended'],
  }),
  owner: string('Owner of the access key: a user, team:TEAM or subject:SUBJECT.'),
})
