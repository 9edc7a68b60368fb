/** Defines the schema of OwnedAccessKeyHistory. */
import { boolean, int64, list, object, string, time } from '../engine/meta/schema/schema.ts'

export const status = object('Observed history of the access key.', {
  since: time('Time from which the history of this key is kept. Absent if it is not known yet.'),
  events: list(
    'Events of the key, the newest first: at most 50. They always include the creation, and the newest 7 of each of these: leaks, uses of ended values, uses from refused addresses, new addresses, rotations, everything else.',
    object('What happened.', {
      time: time('When it happened.'),
      type: string(
        'The detail-type of the event, new-address for a use from an address that is not among the last ones, or tokens-unconfirmed for a cluster in which tokens of the ended key may work.',
      ),
      actor: object('Who did it. Absent if the server does not know it, or if it was another user.', {
        user: string('The user, or system:… for the server itself.'),
        accessKey: string('Name of the access key of the request. Absent if the reader may not read it.'),
        accessKeyUid: string('UID of that key.'),
      }),
      fields: list('For changed: the fields.', string('Path of a field, such as spec.ttl.')),
      how: string(
        'For revoked: Disabled, Deleted or Unused. For expiring: Unused, if the key ends because nobody uses it.',
      ),
      value: int64('Number of the value of the key. Absent for the first one.'),
      overlapSeconds: int64('For rotations: for how many seconds the old value keeps working.'),
      days: int64('For expiring: days before the expiry.'),
      ip: string('Address of the request. Absent if the deployment does not record addresses.'),
      userAgent: string('Client of the request, according to its User-Agent header.'),
      cluster: string('For tokens-unconfirmed: the cluster that has not confirmed the end of the tokens.'),
      url: string('For leaked: where the value was found, as the report says.'),
    }),
  ),
  madeWith: object('The key that made this one, as in status.madeWith of the key.', {
    name: string('Name that the key had.'),
    uid: string('UID of the key.'),
  }),
  made: list(
    'The keys that this one made and that the reader may read, the newest first. Deleted keys are left out.',
    object('A key.', {
      name: string('Name of the key.'),
      uid: string('UID of the key.'),
      made: time('When it was made.'),
      phase: string('Active, Disabled, Unused, Expired or Terminating.'),
    }),
  ),
  madeSince: time('Time from which the keys that this one made are recorded: its creation.'),
  truncated: boolean(
    'True if the key made more than 100 keys that still exist. made then has only keys of the newest 100. Also true from 5,000 keys on, with those that were deleted in the last minutes: made then has only the newest of the 5,000 whose names sort first.',
  ),
})
