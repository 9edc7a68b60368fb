/** Defines the fields of a federated identity credential. */
import { scopeSchema } from '../access/scopes/scope.ts'
import { addedScopes, dropAddedScopes, formerScope } from '../access/scopes/scopechanges.schema.ts'
import { boolean, type FromSchema, int64, list, object, string, time } from '../engine/meta/schema/schema.ts'
import { claimsSchema } from './claims.schema.ts'

const claimMappings = object(
  'Takes the user of the key from the ID token, for people who log in. Only administrators without a scope may set it.',
  {
    username: object(
      'Where the name of the user comes from. Immutable.',
      {
        claim: string('Name of the claim. The claim email counts only if email_verified is true.', {
          minLength: 1,
          maxLength: 128,
        }),
        prefix: string(
          'Text before the value of the claim: PROVIDER: for the claims sub and email, and PROVIDER:CLAIM: for others, so that no two providers or claims name the same user.',
          { minLength: 1, maxLength: 512 },
        ),
      },
      { required: ['claim', 'prefix'] },
    ),
    groups: list(
      'Groups of the user.',
      object(
        'A group that the user is in if a claim has a value.',
        {
          claim: string('Name of the claim.', { minLength: 1, maxLength: 128 }),
          value: string('Value of the claim, or of one of its items, compared exactly.', {
            minLength: 1,
            maxLength: 1024,
          }),
          group: string('Group of the user in this API, such as team:TEAM.', { minLength: 1, maxLength: 253 }),
        },
        { required: ['claim', 'value', 'group'] },
      ),
      { maxItems: 64 },
    ),
  },
  { required: ['username'] },
)

export const spec = object(
  'Desired state of the federated identity credential.',
  {
    displayName: string('Name shown in the UI.'),
    description: string('Free-text description.'),
    identityProvider: string('Name of the IdentityProvider whose ID tokens are accepted. Immutable.', {
      minLength: 1,
      maxLength: 253,
      reference: true,
    }),
    claims: claimsSchema('Claims that the ID token must have. All of them must match.'),
    user: string('User that exchanged keys authenticate. Defaults to the creator. Immutable.'),
    team: string('Team that exchanged keys authenticate. Immutable.'),
    subject: string('Generic subject that exchanged keys authenticate, instead of a user or team. Immutable.'),
    groups: list('Additional groups of requests that use an exchanged key. Immutable.', string('A group.')),
    claimMappings,
    scope: {
      ...scopeSchema,
      description:
        'The maximum permissions of exchanged keys: everything that one of the lists allows. Required unless claimMappings is set. An empty scope allows only self-reviews and discovery.',
    },
    dropAddedScopes,
    ttl: int64('Time to live of exchanged keys in seconds. Defaults to 3600.', { minimum: 60 }),
    maxKeys: int64('Approximate maximum number of valid keys from exchanges. Absent means no limit.', {
      minimum: 1,
      maximum: 100,
    }),
    tokensOnly: boolean(
      'If true, ID tokens are exchanged only for tokens of clusters and virtual clusters, never for access keys. Setting it ends the keys of earlier exchanges.',
    ),
    disabled: boolean('If true, no ID token is exchanged, and the keys of earlier exchanges cannot be used.'),
  },
  { required: ['identityProvider', 'claims'] },
)

export type TrustSpec = FromSchema<typeof spec>
/** Maps an ID token to the user of the key. */
export type ClaimMappings = FromSchema<typeof claimMappings>

export const status = object('Observed state of the federated identity credential.', {
  owner: string('Owner of the credential: a user, team:TEAM or subject:SUBJECT.', { readOnly: true }),
  phase: string('Active, Disabled or Terminating.', { readOnly: true }),
  mayReview: boolean(
    'Whether keys of its exchanges may create TokenReviews and SubjectAccessReviews for the cluster that its scope names. Only administrators without a scope give this right, and any other change of the scope ends it. Absent means no.',
    { readOnly: true },
  ),
  formerScope,
  addedScopes,
  lastRefusal: object(
    'An ID token that its issuer signed for the tenant of the credential, and that an exchange refused last. Noted about once a minute, and not for dry runs. Absent if there was none.',
    {
      time: time('When the exchange was refused.', { readOnly: true }),
      subject: string('The claim sub of the ID token.', { readOnly: true }),
      reason: string('Why, as the audit record names it: claim, event, expired, replayed, target …', {
        readOnly: true,
      }),
      message: string('What the client was told.', { readOnly: true }),
    },
    { readOnly: true },
  ),
  clientID: string('The client_id of an exchange: NAME@UID.', { readOnly: true }),
})
