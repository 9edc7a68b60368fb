/** Creates the API objects with which a job of the demo issuer gets access keys: an identity provider and a trust of alice. */
import { createApiClient } from '../virtualcluster/apiclient.ts'
import { DEMO } from '../virtualcluster/demo.ts'
import { ensureObject } from '../virtualcluster/ensureobject.ts'
import { DEMO_ISSUER } from './demoissuer.ts'
import { ENVIRONMENT, REPOSITORY_ID } from './shapes.ts'

export interface DemoTrustOptions {
  /** URL of the API group and version. */
  api: string
  /** PEM of the authority of that server. */
  authority: string
  /** Access key of a user in the group system:masters. */
  accessKey: string
  /** JSON of the issuer's public keys. Every start has new ones, which ends the keys of earlier exchanges. */
  jwks: string
}

/** Creates or updates both and returns the `client_id` of an exchange. */
export async function ensureDemoTrust({ api, authority, accessKey, jwks }: DemoTrustOptions): Promise<string> {
  const client = createApiClient(authority, accessKey)
  const trusts = `${api}/federatedidentitycredentials`
  const { isNew } = await ensureObject(client, `${api}/identityproviders`, {
    kind: 'IdentityProvider',
    name: 'demo',
    spec: (current) => ({
      displayName: 'The demo issuer',
      type: 'GitHub',
      access: [{ verbs: ['use'], teams: ['*'] }],
      ...current,
      issuer: DEMO_ISSUER,
      jwks,
    }),
  })
  // A trust belongs to the provider that it was made for, not to another one with its name.
  if (isNew) await client.send('DELETE', `${trusts}/demo`)
  const { uid } = await ensureObject(client, trusts, {
    kind: 'FederatedIdentityCredential',
    name: 'demo',
    spec: (current) => ({
      displayName: 'Production jobs of octo-org/shop',
      claims: [
        { claim: 'repository_id', values: [REPOSITORY_ID] },
        { claim: 'environment', values: [ENVIRONMENT] },
      ],
      scope: { projects: [{ project: DEMO.project }] },
      ttl: 900,
      ...current,
      identityProvider: 'demo',
      user: DEMO.owner,
    }),
  })
  return `demo@${uid}`
}
