/** Defines the fields of a revocation of access keys. */

import { boolean, type FromSchema, int64, list, map, object, string, time } from '../engine/meta/schema/schema.ts'
import { keyTypes } from '../keys/ownedaccesskey.schema.ts'
import { DISABLED_REASON } from '../keys/ownedaccesskey.texts.ts'

/** Returns the schema of a metav1.LabelSelector. */
const labelSelectorSchema = (description: string) =>
  object(description, {
    matchLabels: map('Labels that must all have these values.', string('Value of the label.')),
    matchExpressions: list(
      'Requirements that must all hold.',
      object(
        'A requirement.',
        {
          key: string('Label that the requirement is about.'),
          operator: string('In, NotIn, Exists or DoesNotExist. NotIn also matches objects without the label.'),
          values: list('Values for In and NotIn.', string('A value.')),
        },
        { required: ['key', 'operator'] },
      ),
    ),
  })

/** The longest lists of names. */
const MOST_NAMES = 1000
const MOST_OWNERS = 100

/** The most keys and failures that an answer describes. */
export const MOST_SHOWN = 200
export const MOST_FAILURES = 20
export const MOST_OWNERS_SHOWN = 500

const owners = (what: string) =>
  list(`${what} Excludes the other fields that select by owner.`, string('A name.'), { maxItems: MOST_OWNERS })

export const spec = object(
  'Selects the keys, and says how to revoke them. A key must match all selecting fields that are set. At least one of them, or `all`, is required.',
  {
    selector: labelSelectorSchema('Selects by labels.'),
    users: owners('Selects the keys of these users, as in status.owner.'),
    teams: owners('Selects the keys of these teams.'),
    subjects: owners('Selects the keys of these subjects.'),
    types: list('Selects by spec.type. "" selects keys without a type.', string('A type.', { enum: keyTypes }), {
      maxItems: keyTypes.length,
    }),
    createdBefore: time('Selects the keys that were created before this time.'),
    unusedSince: time(
      'Selects the keys that were created before this time and have not been used since. Uses are recorded within a minute.',
    ),
    madeWith: object(
      'Selects the keys that this access key made. That key may be deleted, and is not selected itself.',
      {
        name: string('Name of the key. The key must exist, unless its uid is given.'),
        uid: string('UID of the key.'),
        descendants: boolean(
          'Whether to also select the keys that those keys made, and so on. The default is true. If a line has more than 32 keys, only the first and the nearest 31 are known.',
        ),
      },
    ),
    unscoped: boolean(
      'If true, selects the keys that no scope limits: those without a scope, and those whose scope allows everything.',
    ),
    names: list('Selects these keys.', string('Name of a key.'), { maxItems: MOST_NAMES }),
    all: boolean('If true, selects every key that you may revoke. No other selecting field may be set.'),
    federatedIdentityCredentials: boolean(
      'If true, also revokes the federated identity credentials (trusts) that match, before the keys. Otherwise a Warning names the matching trusts of users, teams, subjects and madeWith. users also selects trusts through which only these users log in. Excludes types, unusedSince, unscoped and names, which select only keys.',
    ),
    action: string(
      'Disable (the default) keeps the keys, which can be enabled again. Delete removes them permanently. Disable does not select keys that are already disabled.',
      { enum: ['Disable', 'Delete'] },
    ),
    reason: string(
      `Reason for disabling the keys, which becomes their annotation ${DISABLED_REASON}. Everyone who may read a key sees it.`,
      { maxLength: 256 },
    ),
    atMost: int64(
      'If more keys and federated identity credentials match than this, the request is refused and changes nothing.',
      { minimum: 0 },
    ),
    includeSelf: boolean(
      'If true, the access key of the request is revoked too if it is selected, after all others. Otherwise it is left out. The same applies to the federated identity credential that it came through.',
    ),
  },
)

export const status = object('Result of the revocation. In a dry run, the result that it would have.', {
  matched: int64('How many keys were selected when the request began.'),
  done: int64('How many of them this request has disabled or deleted.'),
  failed: int64('How many of them it could not change. The others were changed nevertheless.'),
  remaining: boolean(
    'Whether time ran out before all keys and federated identity credentials were changed. Repeat the request to continue.',
  ),
  byOwner: map(
    `How many of the selected keys each owner has, as in status.owner of a key. At most the ${MOST_OWNERS_SHOWN} owners with the most keys.`,
    int64('Number of keys.'),
  ),
  keys: list(
    `The selected keys, by name. At most the first ${MOST_SHOWN}.`,
    object('A selected key.', {
      name: string('Name of the key.'),
      owner: string('Its owner.'),
      displayName: string('Name shown in the UI.'),
      lastActivity: time('Last use before the request.'),
      expirationTimestamp: time('When it expires. Absent if it does not expire.'),
      hint: string('The last six characters of its current value, if it has the format of generated ones.'),
    }),
  ),
  federatedIdentityCredentials: object('The same for federated identity credentials, if spec asks for them.', {
    matched: int64('How many were selected when the request began.'),
    done: int64('How many of them this request has disabled or deleted.'),
    failed: int64('How many of them it could not change.'),
    items: list(
      `The selected ones, by name. At most the first ${MOST_SHOWN}.`,
      object('A selected federated identity credential.', {
        name: string('Its name.'),
        owner: string('Its owner.'),
        displayName: string('Name shown in the UI.'),
        identityProvider: string('Name of its identity provider.'),
      }),
    ),
  }),
  unconfirmed: object(
    'Revoked keys whose tokens of service accounts may still work. Absent if there are none. Only keys whose history you may read are counted.',
    {
      keys: int64('How many keys.'),
      clusters: list('The clusters that have not confirmed the end of the tokens.', string('Name of a cluster.')),
    },
  ),
  failures: list(
    `Why keys could not be changed. At most ${MOST_FAILURES} of them.`,
    object('A failure.', {
      kind: string('FederatedIdentityCredential. Absent for keys.'),
      name: string('Name of the key.'),
      code: int64('HTTP status of the same request for this key alone.'),
      message: string('The reason.'),
    }),
  ),
})

export type RevocationSpec = FromSchema<typeof spec>
