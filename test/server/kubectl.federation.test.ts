/** Tests identity providers and federated identity credentials with kubectl against the whole API. */
import { expect, test } from 'vitest'
import { describeKubectl, useKubectl } from '../support/kubectl.ts'
import { management } from '../support/objects.ts'

const providers = `${management}/identityproviders`
const trusts = `${management}/federatedidentitycredentials`

const provider = `
apiVersion: management.platform/v1
kind: IdentityProvider
metadata:
  name: github
spec:
  issuer: https://token.actions.githubusercontent.com
  claims:
    - { claim: repository_owner_id, values: ['123456'] }
  access:
    - { verbs: [use], teams: ['*'] }
  maxTTL: 7200
`
const trust = (claims: string) => `
apiVersion: management.platform/v1
kind: FederatedIdentityCredential
metadata:
  name: shop-deploy
spec:
  identityProvider: github
  claims:
${claims}
  scope:
    projects: [{ project: shop }]
  ttl: 1800
`

describeKubectl('kubectl', () => {
  const api = useKubectl()

  test('makes, shows and changes a provider and a credential', async () => {
    const made = await api.kubectl.feed(provider, 'create', '-f', '-')
    expect(made.stdout).toBe('identityprovider.management.platform/github created\n')

    const ids = trust(
      "    - { claim: repository_id, values: ['456789'] }\n    - { claim: environment, values: [production] }",
    )
    const applied = await api.kubectl.feed(ids, 'apply', '-f', '-')
    expect(applied.stdout).toBe('federatedidentitycredential.management.platform/shop-deploy created\n')
    expect(applied.stderr).toBe('')
    expect((await api.kubectl.feed(ids, 'apply', '-f', '-')).stdout).toContain('unchanged')
    const open = await api.kubectl.feed(ids.replace('shop }', "'*' }"), 'apply', '-f', '-')
    expect(open.stderr).toBe('Warning: spec.scope.projects: * allows every project\n')
    expect(open.stdout).toContain('configured')

    const { json } = await api.server.call(`${trusts}/shop-deploy`)
    const wide = await api.kubectl.run('get', 'fic', '-o', 'wide')
    expect(wide.stdout).toMatch(/^NAME +PROVIDER +OWNER +TTL +DISABLED +TOKENS ONLY +CLIENT ID +CLAIMS +PHASE +AGE\n/)
    expect(wide.stdout).toContain(`shop-deploy@${json.metadata.uid}`)
    expect(wide.stdout).toContain('repository_id=456789,environment=production')
    const idp = await api.kubectl.run('get', 'idp', '-o', 'wide')
    expect(idp.stdout).toMatch(/^NAME +ISSUER +TYPE +DISABLED +AUDIENCE +TOKEN USE +MAX TTL +PHASE +AGE\n/)
    expect(idp.stdout).toMatch(
      /github +https:\/\/token.actions.githubusercontent.com +GitHub +false .* Once +7200 +Active +/,
    )

    await api.kubectl.run('patch', 'fic', 'shop-deploy', '--type=merge', '-p', '{"spec":{"disabled":true}}')
    const status = await api.kubectl.run('get', 'fic', 'shop-deploy', '-o', 'jsonpath={.status.phase}')
    expect(status.stdout).toBe('Disabled')
    const lower = provider.replace('7200', '3600')
    const side = await api.kubectl.feed(lower, 'apply', '--server-side', '--force-conflicts', '-f', '-')
    expect(side.stdout).toContain('serverside-applied')
    expect((await api.server.call(`${providers}/github`)).json.spec.maxTTL).toBe(3600)
  })
})
