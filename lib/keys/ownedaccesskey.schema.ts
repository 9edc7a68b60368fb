/** Defines the fields of an access key. Specification section 2.3. */
import { scopeSchema } from '../access/scopes/scope.ts'
import { addedScopes, dropAddedScopes, formerScope } from '../access/scopes/scopechanges.schema.ts'
import { boolean, int64, list, map, object, string, time } from '../engine/meta/schema/schema.ts'
import { eachKeyText } from './ownedaccesskey.texts.ts'

/** Users manage keys of the types '', User and Other. The service manages keys of the other types. */
export const keyTypes = ['', 'Login', 'User', 'Other', 'Reset', 'OIDCRefreshToken', 'NetworkPeer', 'Workspace'] as const

const identity = object('Single sign-on login data, if available. It grants no access.', {
  userId: string('Subject of the user.'),
  username: string('Username.'),
  preferredUsername: string('Preferred username or display name.'),
  email: string('User email.'),
  emailVerified: boolean('Whether the email was verified.'),
  extraClaims: map('Additional claims from the OIDC provider.', string('A claim.')),
  groups: list('Groups from the identity provider. They grant no access.', string('A group.')),
  connector: string('Name of the connector that the key was created from.'),
  connectorData: string('Connector data for later requests. Never returned.', { writeOnly: 'never' }),
  identityRefresh: time('Last time the identity was refreshed.'),
})

export const spec = object('Desired state of the access key.', {
  ...eachKeyText(({ description }) => string(description)),
  user: string('User that the key authenticates.'),
  team: string('Team that the key authenticates.'),
  subject: string('Generic subject that the key authenticates, instead of a user or team.'),
  groups: list('Additional groups of requests that use the key.', string('A group.')),
  key: string(
    'The key itself, a bearer token. The server generates it if it is empty, and returns it only in the response that creates the object.',
    { writeOnly: 'once' },
  ),
  disabled: boolean('If true, the key continues to exist but cannot be used to access the API.'),
  ttl: int64('Time to live of the key in seconds. 0 or absent means that the key does not expire.', { minimum: 0 }),
  ttlAfterLastActivity: boolean('If true, the time to live counts from the last activity instead of the creation.'),
  scope: scopeSchema,
  dropAddedScopes,
  sourceCIDRs: list(
    'IP addresses and CIDRs from which the key may be used, such as 10.0.0.0/8, 203.0.113.7 or 2001:db8::/32. If empty, it may be used from any address.',
    string('An IPv4 or IPv6 address, or a CIDR without host bits, in its canonical form.'),
    { maxItems: 32 },
  ),
  type: string(
    'Type of the key. Users manage keys of the types "", User and Other. The service manages keys of the other types.',
    {
      enum: keyTypes,
    },
  ),
  identity,
  identityRefresh: time('Last time the identity was refreshed.'),
  oidcProvider: object('OIDC client data, present if the key is a refresh token.', {
    clientId: string('Client that the token was generated for.'),
    nonce: string('Nonce.'),
    redirectUri: string('Redirect URI.'),
    scopes: string('Scopes.'),
  }),
  parent: string('OIDC and external token information that keys share.', { deprecated: 'spec.identity' }),
  oidcLogin: object(
    'Login data of an OIDC provider.',
    {
      idToken: string('ID token. Never returned.', { writeOnly: 'never' }),
      accessToken: string('Access token. Never returned.', { writeOnly: 'never' }),
      refreshToken: string('Refresh token. Never returned.', { writeOnly: 'never' }),
      lastRefresh: time('Last refresh of the ID token.'),
    },
    { deprecated: 'spec.identity' },
  ),
})

export const status = object('Observed state of the access key.', {
  lastActivity: time('Last use of the key to access the API.'),
  owner: string('Owner of the key: a user, team:TEAM or subject:SUBJECT.', { readOnly: true }),
  phase: string('Active, Leaked, Disabled, Unused, Expired or Terminating.', { readOnly: true }),
  hint: string(
    'The last six characters of the current value, if it has the format of generated ones. Absent until the key is rotated. Field selectors find a key by the end of each value that works or is pending, also before.',
    { readOnly: true },
  ),
  leak: object(
    'Report of the current value as leaked. Present until a new value is used. The reported value never works again: rotate the key, then enable it.',
    {
      reported: time('Time of the report.'),
      url: string('Where the value was found, as the reporter says.'),
    },
    { readOnly: true },
  ),
  expirationTimestamp: time('Time when the key expires. Absent if it does not expire.', { readOnly: true }),
  mayReview: boolean(
    'Whether the key may create TokenReviews and SubjectAccessReviews for the cluster that its scope names. Only administrators without a scope give this right, and any other change of the scope ends it. Absent means no.',
    { readOnly: true },
  ),
  lastSources: list(
    'Last addresses that used the key, the newest first. Addresses of one IPv6 /64 network count as one.',
    object('An address.', {
      ip: string('Address that the gateway saw.'),
      userAgent: string('Beginning of the User-Agent header of the last request from it.'),
      lastSeen: time('Time of the last recorded request from it.'),
    }),
    { readOnly: true },
  ),
  formerScope,
  addedScopes,
  target: string('The only one of status.targets.', { readOnly: true }),
  targets: list(
    'The clusters and virtual clusters of the tokens for which an exchange made the key, such as clusters/NAME. Nobody has the value of such a key. Absent for keys with a value.',
    string('A cluster or virtual cluster.'),
    { readOnly: true },
  ),
  madeWith: object(
    'The access key that made this one, if the reader may know it. It may be deleted. Absent if it is the key of the request.',
    { name: string('Name that it had.'), uid: string('UID.') },
    { readOnly: true },
  ),
  lastRotation: time('When the current value was made. Absent if the key still has its first one.', { readOnly: true }),
  values: list(
    'The values of the key that have not ended: one, or two during a rotation. Absent if the key was never rotated. Empty if its only value has leaked.',
    object('A value of the key.', {
      hint: string('The last six characters, if the value has the format of generated ones.'),
      state: string(
        'Current, Pending (made by a rotation and not used yet) or Retiring (the previous value during the overlap).',
      ),
      made: time('When the value was made. Absent for the first one.'),
      lastActivity: time('Last use of the value to access the API.'),
      until: time('When a retiring value ends.'),
    }),
    { readOnly: true },
  ),
})
