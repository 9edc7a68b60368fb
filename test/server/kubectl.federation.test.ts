/** Tests identity providers and federated identity credentials with kubectl against the whole API. */
import { expect, test } from 'vitest'
import { describeKubectl, useKubectl } from '../support/kubectl.ts'
import { accessKey, keys, management } from '../support/objects.ts'

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

    const names = await api.kubectl.feed(
      trust('    - { claim: repository, values: [octo-org/shop] }'),
      'apply',
      '-f',
      '-',
    )
    expect(names.stderr).toContain(
      'spec.claims: Required value: repository names what anybody may take when it is given up; bind repository_id as well',
    )

    const ids = trust(
      "    - { claim: repository_id, values: ['456789'] }\n    - { claim: environment, values: [production] }",
    )
    const applied = await api.kubectl.feed(ids, 'apply', '-f', '-')
    expect([applied.stdout, applied.stderr]).toEqual([
      'federatedidentitycredential.management.platform/shop-deploy created\n',
      '',
    ])
    expect((await api.kubectl.feed(ids, 'apply', '-f', '-')).stdout).toContain('unchanged')
    const open = await api.kubectl.feed(ids.replace('shop }', "'*' }"), 'apply', '-f', '-')
    expect(open.stderr).toBe('Warning: spec.scope.projects: * allows every project\n')
    expect(open.stdout).toContain('configured')

    const { json } = await api.server.call(`${trusts}/shop-deploy`)
    const wide = await api.kubectl.run('get', 'fic', '-o', 'wide')
    expect(wide.stdout).toMatch(/^NAME +PROVIDER +OWNER +TTL +DISABLED +CLIENT ID +CLAIMS +PHASE +AGE\n/)
    expect(wide.stdout).toContain(`shop-deploy@${json.metadata.uid}`)
    expect(wide.stdout).toContain('repository_id=456789,environment=production')
    const idp = await api.kubectl.run('get', 'idp', '-o', 'wide')
    expect(idp.stdout).toMatch(/^NAME +ISSUER +TYPE +DISABLED +AUDIENCE +TOKEN USE +MAX TTL +PHASE +AGE\n/)
    expect(idp.stdout).toMatch(
      /github +https:\/\/token.actions.githubusercontent.com +GitHub +false .* Once +7200 +Active +/,
    )

    const disabled = await api.kubectl.run(
      'patch',
      'fic',
      'shop-deploy',
      '--type=merge',
      '-p',
      '{"spec":{"disabled":true}}',
    )
    expect(disabled.stdout).toContain('patched')
    const status = await api.kubectl.run('get', 'fic', 'shop-deploy', '-o', 'jsonpath={.status.phase}')
    expect(status.stdout).toBe('Disabled')
    const side = await api.kubectl.feed(
      provider.replace('7200', '3600'),
      'apply',
      '--server-side',
      '--force-conflicts',
      '-f',
      '-',
    )
    expect(side.stdout).toContain('serverside-applied')
    expect((await api.server.call(`${providers}/github`)).json.spec.maxTTL).toBe(3600)
  })

  test('refuses what others may not see, and what would outlive its maker', async () => {
    const issuer = { issuer: 'https://issuer.example.com', access: [{ verbs: ['use'], teams: ['*'] }] }
    await api.server.make(providers, { kind: 'IdentityProvider', metadata: { name: 'ours' }, spec: issuer })
    await api.server.make(providers, {
      kind: 'IdentityProvider',
      metadata: { name: 'theirs' },
      spec: { issuer: 'https://issuer.example.com' },
    })
    const tokenOf = async (name: string, spec: object) => (await api.server.make(keys, accessKey(name, spec))).spec.key
    const [alice, bob, ci] = await Promise.all([
      tokenOf('federation-alice', { user: 'alice' }),
      tokenOf('federation-bob', { user: 'bob' }),
      tokenOf('federation-ci', { user: 'alice', ttl: 3600, scope: { rules: [{}] } }),
    ])
    const credential = (name: string, identityProvider = 'ours') => ({
      kind: 'FederatedIdentityCredential',
      metadata: { name },
      spec: { identityProvider, claims: [{ claim: 'sub', values: ['job'] }], scope: {} },
    })
    const post = async (token: string, body: object) => {
      const { status, json } = await api.server.call(trusts, { method: 'POST', token, body })
      return [status, json.message]
    }
    expect(await post(alice, credential('mine'))).toEqual([201, undefined])
    expect(await post(alice, credential('other', 'theirs'))).toEqual([
      422,
      'FederatedIdentityCredential.management.platform "other" is invalid: spec.identityProvider: Invalid value: "theirs": not found',
    ])
    expect(await post(ci, credential('lasting'))).toEqual([
      403,
      expect.stringMatching(
        /the access key used expires at .* and may not create a federated identity credential, which could outlive it$/,
      ),
    ])
    for (const path of [`${trusts}/mine`, `${providers}/theirs`, `${trusts}/nothing`]) {
      const { status, json } = await api.server.call(path, { token: bob })
      expect([status, json.reason, json.message]).toEqual([404, 'NotFound', expect.stringContaining('not found')])
    }
    const change = { method: 'PATCH', token: bob, headers: { 'content-type': 'application/merge-patch+json' } }
    const { status, json } = await api.server.call(`${providers}/ours`, {
      ...change,
      body: { spec: { disabled: true } },
    })
    expect([status, json.message]).toEqual([
      403,
      expect.stringContaining('only system:masters may change identity providers'),
    ])
  })

  test('explains the fields', async () => {
    const claims = await api.kubectl.run('explain', 'fic.spec.claims')
    expect(claims.stdout).toContain('FIELD: claims <[]Object>')
    expect(claims.stdout).toContain('Claims that the ID token must have.')
    const audience = await api.kubectl.run('explain', 'idp.spec.audience')
    expect(audience.stdout).toContain('The one audience that ID tokens must have.')
  })
})
