/** The fields of an access key. Specification section 2.3. */
import { scopeSchema } from '../../../authorization/scopes/scope.ts'
import { boolean, int64, list, map, object, string, time } from '../../../meta/schema/schema.ts'

/** Who manages the key: '' and User and Other are the user's own, the rest belong to the service. */
const keyTypes = ['', 'Login', 'User', 'Other', 'Reset', 'OIDCRefreshToken', 'NetworkPeer', 'Workspace'] as const

const identity = object('Single-sign-on login data, if available. Grants nothing.', {
  userId: string('Subject of the user.'),
  username: string('Username.'),
  preferredUsername: string('Preferred username or display name.'),
  email: string('User email.'),
  emailVerified: boolean('Whether the email was verified.'),
  extraClaims: map('Further claims from the OIDC provider.', string('A claim.')),
  groups: list('Groups from the identity provider. They grant nothing here.', string('A group.')),
  connector: string('Name of the connector the key was created from.'),
  connectorData: string('Connector data for later requests. Never shown.', { writeOnly: 'never' }),
  identityRefresh: time('Last time the identity was refreshed.'),
})

export const spec = object('Desired state of the access key.', {
  displayName: string('Name shown in the UI.'),
  description: string('Free-text description.'),
  user: string('The user the key refers to.'),
  team: string('The team the key refers to.'),
  subject: string('Generic subject, usable instead of user or team.'),
  groups: list('Extra groups applied when the key is used.', string('A group.')),
  key: string(
    'The actual key, used as a bearer token. Made by the server when empty; shown in the answer that creates the object and in no other.',
    { writeOnly: 'once' },
  ),
  disabled: boolean('When true the key continues to exist but cannot be used to access the API.'),
  ttl: int64('Time to live of the key in seconds; 0 or absent = no expiry.', { minimum: 0 }),
  ttlAfterLastActivity: boolean('When set, the time to live counts from the last activity instead of the creation.'),
  scope: scopeSchema,
  type: string('Whether the key is managed by its user ("", User, Other) or by the service itself (the other types).', {
    enum: keyTypes,
  }),
  identity,
  identityRefresh: time('Last time the identity was refreshed.'),
  oidcProvider: object('Present when the token is a refresh token.', {
    clientId: string('Client the token was generated for.'),
    nonce: string('Nonce.'),
    redirectUri: string('Redirect URI.'),
    scopes: string('Scopes.'),
  }),
  parent: string('Shared OIDC and external token information between keys.', { deprecated: 'spec.identity' }),
  oidcLogin: object(
    'Login data of an OIDC provider.',
    {
      idToken: string('Id token. Never shown.', { writeOnly: 'never' }),
      accessToken: string('Access token. Never shown.', { writeOnly: 'never' }),
      refreshToken: string('Refresh token. Never shown.', { writeOnly: 'never' }),
      lastRefresh: time('Last refresh of the id token.'),
    },
    { deprecated: 'spec.identity' },
  ),
})

export const status = object('Observed state of the access key.', {
  lastActivity: time('Last use of the key to access the API.'),
  owner: string('Who owns the key: a user, team:TEAM or subject:SUBJECT.', { readOnly: true }),
  phase: string('Active, Disabled, Expired or Terminating.', { readOnly: true }),
  expirationTimestamp: time('When the key expires; absent when it does not.', { readOnly: true }),
})
