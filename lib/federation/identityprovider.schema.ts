/** Defines the fields of an identity provider. */
import { scopeSchema } from '../access/scopes/scope.ts'
import { boolean, type FromSchema, int64, list, object, string } from '../engine/meta/schema/schema.ts'
import { signatureAlgorithms } from './algorithms.ts'
import { claimsSchema } from './claims.schema.ts'
import { issuerTypes } from './issuers.ts'

const access = list(
  'Users and teams that may see the provider and refer to it. Without an entry, only administrators may.',
  object(
    'An access rule.',
    {
      verbs: list(
        'Allowed verbs: "use" to read the provider and to refer to it.',
        string('A verb.', { enum: ['use'] }),
      ),
      users: list('Names of users.', string('A user.', { maxLength: 253 }), { maxItems: 256 }),
      teams: list('Names of teams. * means every user.', string('A team.', { maxLength: 253 }), { maxItems: 256 }),
    },
    { required: ['verbs'] },
  ),
  { maxItems: 64 },
)

export const spec = object(
  'Desired state of the identity provider.',
  {
    displayName: string('Name shown in the UI.'),
    description: string('Free-text description.'),
    issuer: string(
      'URL of the issuer, exactly as in the claim iss of its ID tokens. Immutable. https, with a DNS name as its host.',
      { format: 'uri', minLength: 1, maxLength: 512 },
    ),
    type: string(
      'Platform of the issuer, which decides the claims that a federated identity credential must bind. Defaults to the type recognized from the issuer, or OIDC. Immutable, except from OIDC to Kubernetes.',
      { enum: issuerTypes },
    ),
    audience: string(
      'The one audience that ID tokens must have. Defaults to the issuer URL of this API, so that no token for another service is accepted.',
      { minLength: 1, maxLength: 512 },
    ),
    jwks: string(
      'Pinned public keys of the issuer: the JSON of a key set (RFC 7517). For issuers that this API cannot reach. Private keys are refused. RSA keys have 2048 to 8192 bits, and an exponent of at most 8 bytes.',
      { maxLength: 65536 },
    ),
    jwksURI: string('URL of the key set. Defaults to the one in the discovery document of the issuer.', {
      format: 'uri',
      maxLength: 512,
    }),
    algorithms: list(
      'Accepted signature algorithms. Defaults to RS256 and ES256.',
      string('An algorithm.', { enum: signatureAlgorithms }),
      { maxItems: signatureAlgorithms.length },
    ),
    tokenUse: string(
      'Whether an ID token can be exchanged once, or repeatedly until it expires. Defaults to Lifetime for platforms that issue the same token repeatedly, such as Kubernetes, and to Once for others.',
      { enum: ['Once', 'Lifetime'] },
    ),
    maxTokenAge: int64('Maximum age of an ID token in seconds. Absent means until it expires.', {
      minimum: 60,
      maximum: 86400,
    }),
    maxTTL: int64('Maximum time to live of exchanged keys in seconds. Absent means the maximum of the deployment.', {
      minimum: 60,
    }),
    scope: {
      ...scopeSchema,
      description:
        'The maximum permissions of exchanged keys, even if the federated identity credential allows more. An empty scope allows only self-reviews and discovery.',
    },
    claims: claimsSchema(
      'Claims that every ID token must have. All of them must match. Required for issuers that sign for everyone. One claim must then name the organization.',
    ),
    access,
    disabled: boolean('If true, no ID token is exchanged, and the keys of earlier exchanges cannot be used.'),
  },
  { required: ['issuer'] },
)

export type ProviderSpec = FromSchema<typeof spec>

export const status = object('Observed state of the identity provider.', {
  phase: string('Active, Disabled or Terminating.', { readOnly: true }),
  type: string('Platform of the issuer.', { readOnly: true }),
  audience: string('Audience that ID tokens must have. Configure it in the CI job.', { readOnly: true }),
  tokenUse: string('Once or Lifetime.', { readOnly: true }),
})
