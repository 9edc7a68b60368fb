/** Tests the settings that prevent a function from starting. */
import { expect, test } from 'vitest'
import { createAuthenticatingServer } from '../../lib/server/authenticating.ts'
import { createMinimalServer } from '../../lib/server/process/minimal.ts'

const settings = {
  TABLE_NAME: 'keyplane-prod',
  BASE_PATH: '/kubernetes/management',
  STAGE: 'prod',
  ISSUER: 'https://api.example.com/kubernetes/management',
  PEPPER_SECRET_ID: 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:keyplane/prod/pepper-AbCdEf',
  ACCESS_KEY_SECRET_ID: 'keyplane/prod/access-key',
  SIGNING_KEY_IDS: 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab, alias/other',
  VIRTUAL_CLUSTER_SECRETS_PREFIX: 'keyplane/prod/virtualclusters/',
  CLUSTER_SECRETS_PREFIX: 'keyplane/prod/clusters/',
  SECRETS_FUNCTION: 'keyplane-prod-boundsecrets',
  PROJECT_NAMESPACE_PREFIX: 'p-',
  SPACE_NAMESPACE: 'p-{project}-s-{space}',
  MAX_KEY_TTL_SECONDS: '0',
  MAX_TOKEN_TTL_SECONDS: '',
}

test('a function starts with the deployed settings and with no settings', () => {
  const { config } = createMinimalServer(settings)
  const { basePath, projectNamespacePrefix, maxTokenTtlSeconds, signingKeyIds } = config
  expect([basePath, projectNamespacePrefix, maxTokenTtlSeconds]).toEqual(['/kubernetes/management', 'p-', 2_592_000])
  expect(signingKeyIds).toHaveLength(2)
  expect(createMinimalServer({ BASE_PATH: '/base/' }).config.basePath).toBe('/base')
  expect(createMinimalServer({}).config.projectNamespacePrefix).toBe('p-')
  expect(() => createAuthenticatingServer({}).storage).toThrow('environment variable TABLE_NAME is not set')
})

// threat: authorizer-8, signin-6
test.each([
  [
    'BASE_PATH',
    ['', '/', 'kubernetes', '/a//b', '/a b', '/a/../b', '/.', '/a?b', '/a#', '//host/a', '/a\n', '/é', '/%2e'],
  ],
  // An empty prefix would make every namespace a project namespace.
  ['PROJECT_NAMESPACE_PREFIX', ['', '-', '-p', 'P-', 'p_', 'p/', 'p.', ' p-', 'p-\n', '*', 'a'.repeat(32)]],
  ['SPACE_NAMESPACE', ['', '{project}', '{project}{space}', 'p-{space}-{project}']],
  ['ISSUER', ['', 'http://a', 'https://', 'https://a?b', 'https://a#b', 'https://a b', 'https://a//b', 'a']],
  ['STAGE', ['', 'Prod', 'a-b', '1a', 'a'.repeat(14)]],
  ['TABLE_NAME', ['', 'a', 'a b', 'a/b']],
  ['PEPPER_SECRET_ID', ['', 'a b', 'a\n']],
  ['ACCESS_KEY_SECRET_ID', ['', 'a b']],
  ['SIGNING_KEY_IDS', ['', ' ', ',', 'a;b']],
  ['VIRTUAL_CLUSTER_SECRETS_PREFIX', ['', 'keyplane', 'a b/']],
  ['CLUSTER_SECRETS_PREFIX', ['', 'keyplane', 'a b/']],
  ['CLUSTERS_ROLE_ARN', ['keyplane', 'arn:aws:iam::1:user/a', 'arn:aws:iam::1:role/a b']],
  ['SECRETS_FUNCTION', ['a b', 'a/b']],
  ['MAX_KEY_TTL_SECONDS', ['-1', '1h', '1.5', ' 1', '12345678901']],
  ['FEDERATED_KEY_RETENTION_SECONDS', ['-1', 'day']],
  ['REJECT_ID_TOKENS_BEFORE', ['-1', '2026-11-22', '1'.repeat(13)]],
  ['WATCHES_PER_KEY', ['-1', 'many']],
  ['API_URL', ['', 'http://a', 'https://a?b', 'a']],
  ['MAX_IDLE_SECONDS', ['-1', '1', '604799', '1h', '12345678901']],
  ['MAX_EXCHANGE_TTL_SECONDS', ['-1', '1h']],
  ['ALLOW_PRIVATE_ISSUERS', ['no', 'True', '1']],
  ['COMPRESS_STREAMS', ['no', 'True', '1']],
  ['CONSOLE_ISSUER', ['http://a', 'https://a?b', "https://a;script-src 'unsafe-inline'", 'https://*', 'https://a@b']],
  ['CONSOLE_CLIENT_ID', ['a b', 'a\n', 'ä']],
  ['CONSOLE_CREDENTIAL', ['staff', 'staff@1', '@5d0a3a55-6d6f-4d0e-8a0f-3f1f6c0d9b11']],
  ['CONSOLE_SCOPES', ['openid  email', '"openid"']],
  ['CONSOLE_ORIGINS', ['https://a/', 'https://a,', '*', "'self'", 'https://a https://b']],
  ['RECORD_SOURCES', ['no', 'True', '1']],
])('a function does not start with an invalid %s', (name, values) => {
  for (const value of values) {
    expect(() => createAuthenticatingServer({ ...settings, [name]: value }), JSON.stringify(value)).toThrow(
      `environment variable ${name} must be `,
    )
  }
})

test('the console has an identity provider if all of its settings are there', () => {
  const { config } = createMinimalServer({ CONSOLE_ISSUER: '', CONSOLE_CLIENT_ID: '', CONSOLE_CREDENTIAL: '' })
  expect(config.consoleSignIn).toBeUndefined()
  const given = {
    CONSOLE_ISSUER: 'https://login.example/',
    CONSOLE_CLIENT_ID: 'keyplane',
    CONSOLE_CREDENTIAL: 'staff@5d0a3a55-6d6f-4d0e-8a0f-3f1f6c0d9b11',
  }
  expect(createMinimalServer(given).config.consoleSignIn).toEqual({
    issuer: 'https://login.example/',
    clientID: 'keyplane',
    credential: given.CONSOLE_CREDENTIAL,
    scopes: 'openid email profile',
    origins: [],
  })
  const more = { ...given, CONSOLE_SCOPES: 'openid', CONSOLE_ORIGINS: 'https://a.example,https://b.example' }
  expect(createMinimalServer(more).config.consoleSignIn).toMatchObject({
    scopes: 'openid',
    origins: ['https://a.example', 'https://b.example'],
  })
  for (const missing of Object.keys(given)) {
    const { config } = createMinimalServer({ ...given, [missing]: '' })
    expect(() => config.consoleSignIn).toThrow(`environment variable ${missing} is not set`)
  }
})
