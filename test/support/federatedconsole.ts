/** Starts the API with oidc-provider as the identity provider of its console, for specs in a browser. */
import { applyEnvironment } from '../../infra/local/gateway/environment.ts'
import type { FederatedConsole } from '../browser/support/federatedconsole.ts'
import { clientOf, provider, providers, trust, trusts } from './federation.ts'
import { instance, instances, management } from './objects.ts'
import { oidcClientId, startOidcProvider } from './oidcprovider.ts'
import { startServer } from './server.ts'

export async function start(): Promise<FederatedConsole> {
  const server = await startServer({}, { unscheduled: true })
  const address = `${server.root}/console/`
  const idp = await startOidcProvider({ redirectURIs: [address] })
  const { issuer } = idp
  const jwks = await idp.readKeys()
  await server.make(providers, provider('company', { issuer, audience: oidcClientId, jwks, algorithms: ['RS256'] }))
  const people = trust('console', {
    identityProvider: 'company',
    claims: [{ claim: 'sub', values: ['alice', 'bob'] }],
    claimMappings: { username: { claim: 'email', prefix: 'company:' } },
    ttl: 240,
  })
  const credential = clientOf(await server.make(trusts, people))
  const oak = {
    owner: { user: 'company:alice@example.com' },
    accessPoint: { ingress: { enabled: true, host: 'oak.clusters.company.example' } },
  }
  await server.make(instances('p-shop'), instance('oak', oak))
  // The function of the console reads its settings at its first request.
  const restore = applyEnvironment({
    CONSOLE_ISSUER: issuer,
    CONSOLE_CLIENT_ID: oidcClientId,
    CONSOLE_CREDENTIAL: credential,
    CONSOLE_SCOPES: 'openid email groups',
  })
  return {
    address,
    api: server.base,
    issuer,
    expect: idp.expect,
    refuse: idp.refuse,
    allowCORS: idp.allowCORS,
    async userOf(token) {
      const { json } = await server.call(`${management}/selves`, { method: 'POST', body: {}, token })
      return json.status?.user?.name
    },
    async stop() {
      restore()
      await Promise.all([server.stop(), idp.close()])
    },
  }
}
