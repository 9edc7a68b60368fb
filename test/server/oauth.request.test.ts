/** Tests how the OAuth endpoints read a request, before they read anything from the store. */

import { randomBytes } from 'node:crypto'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { describe, expect, test } from 'vitest'
import { readParameters } from '../../lib/federation/exchange/parameters.ts'
import { parseRequestedScope } from '../../lib/federation/exchange/requestedscope.ts'
import { negotiateToken } from '../../lib/federation/exchange/tokenform.ts'
import { decodeForm } from '../../lib/federation/oauth/form.ts'
import { malformed, OAuthError, quoteValue } from '../../lib/federation/oauth/oautherror.ts'
import { generateAccessKey } from '../../lib/keys/credential/accesskey.ts'
import { readForm } from '../../lib/server/oauth/readform.ts'
import cases from './vectors/oauth.request.cases.json' with { type: 'json' }

const formType = 'application/x-www-form-urlencoded'
const event = (given: object) =>
  ({
    headers: { 'Content-Type': formType },
    multiValueHeaders: {},
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    body: 'a=1',
    isBase64Encoded: false,
    ...given,
  }) as unknown as APIGatewayProxyEvent

/** Returns code and description of the error that `act` throws. */
function refusalOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (error instanceof OAuthError) return `${error.code}: ${error.message}`
    throw error
  }
  return 'accepted'
}

describe('the form', () => {
  test.each([
    ['a=1&b=x+y%21', { a: '1', b: 'x y!' }],
    ['a=%C3%A9%F0%9F%98%80', { a: 'é😀' }],
    ['a==&b=c%3Dd', { a: '=', b: 'c=d' }],
    ['a%62=1', { ab: '1' }],
    ['&a=1&&', { a: '1' }],
    ['__proto__=1', { ['__proto__']: '1' }],
    ['', {}],
  ])('%j is read', (body, expected) => expect([...decodeForm(body)]).toEqual(Object.entries(expected)))

  test('keeps the values of audience, which may be repeated', () => {
    expect(decodeForm('audience=a&audience=b&audience=a').audiences).toEqual(['a', 'b', 'a'])
    expect(decodeForm('audience=a&x=b').audiences).toBeUndefined()
  })

  test('leaves out parameters without a value', () => expect([...decodeForm('a&b=&c=1')]).toEqual([['c', '1']]))

  test.each([
    ['a=1&a=2', "the parameter 'a' is given more than once"],
    ['a=1&%61=1', "the parameter 'a' is given more than once"],
    ['a=&a', "the parameter 'a' is given more than once"],
    ['resource=a&resource=b', "the parameter 'resource' is given more than once"],
    ['audience=a&audience=', 'the parameter audience is empty'],
    ['x%27%0Ay=1&x%27%0Ay=1', "the parameter 'x%27%0Ay' is given more than once"],
    ['a=%', 'its percent-encoding or its UTF-8 is invalid'],
    ['a=%4', 'its percent-encoding or its UTF-8 is invalid'],
    ['a=%zz', 'its percent-encoding or its UTF-8 is invalid'],
    ['a=%ff', 'its percent-encoding or its UTF-8 is invalid'],
    ['a=%C0%AF', 'its percent-encoding or its UTF-8 is invalid'],
    ['a=%ED%A0%80', 'its percent-encoding or its UTF-8 is invalid'],
    ['a=é', 'characters that must be percent-encoded'],
    ['a=b c', 'characters that must be percent-encoded'],
    ['a=1\r\n', 'characters that must be percent-encoded'],
    ['a\0=1', 'characters that must be percent-encoded'],
    [Array.from({ length: 65 }, (_, index) => `p${index}=1`).join('&'), 'the body has more than 64 parameters'],
  ])('%j is refused', (body, why) => expect(refusalOf(() => decodeForm(body))).toContain(why))

  test.each([
    formType,
    `${formType}; charset=UTF-8`,
    `${formType};charset="utf-8"`,
    'APPLICATION/X-WWW-FORM-URLENCODED',
  ])('is read with content-type %s', (type) => {
    expect([...readForm(event({ headers: { 'content-type': type } }))]).toEqual([['a', '1']])
  })

  test.each([
    undefined,
    '',
    'application/json',
    'multipart/form-data; boundary=x',
    `${formType}; charset=utf-16`,
    `${formType}; charset=utf-7`,
    `${formType}; charset=utf-8; charset=utf-16`,
    `${formType}, application/json`,
    `${formType}x`,
    'text/plain',
  ])('is refused with content-type %s', (type) => {
    expect(refusalOf(() => readForm(event({ headers: { 'content-type': type } })))).toBe(
      `invalid_request: the content-type must be ${formType}, with no charset but utf-8`,
    )
  })

  test('is refused with two content-types', () => {
    const multiValueHeaders = { 'Content-Type': [formType, 'application/json'] }
    expect(refusalOf(() => readForm(event({ multiValueHeaders })))).toContain('the content-type must be')
  })

  test.each([
    [{ headers: { 'content-type': formType, AUTHORIZATION: 'Basic eA==' } }, 'must not have an Authorization header'],
    [{ multiValueQueryStringParameters: { token: ['x'] } }, 'parameters belong in the body'],
    [{ queryStringParameters: { token: '' } }, 'parameters belong in the body'],
    [{ headers: { 'content-type': formType, 'Content-Encoding': 'gzip' } }, 'must not have a content-encoding'],
    [{ body: `a=${'x'.repeat(24 * 1024)}` }, 'the body is larger than 24 KiB'],
    [{ body: Buffer.alloc(24 * 1024 + 1, 'a').toString('base64'), isBase64Encoded: true }, 'larger than 24 KiB'],
  ])('is refused in a request with %j', (given, why) => expect(refusalOf(() => readForm(event(given)))).toContain(why))

  test('is read from base64, and absent without a body', () => {
    const body = Buffer.from('a=%C3%A9').toString('base64')
    expect([...readForm(event({ body, isBase64Encoded: true }))]).toEqual([['a', 'é']])
    expect([...readForm(event({ body: null }))]).toEqual([])
  })
})

const client = 'shop-deploy@6f0c1f7e-0d6e-4c3e-9a53-1c0f7f7f4a10'
const complete = {
  grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
  client_id: client,
  subject_token: 'a.b.c',
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
}
const settings = { issuer: 'https://keys.example.com', projectNamespacePrefix: 'p-' }
const read = (given: Record<string, string | undefined>) =>
  readParameters(
    new Map(
      Object.entries({ ...complete, ...given }).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
    settings,
  )

describe('the parameters of an exchange', () => {
  test('name the trust, the token and the scope', () => {
    const request = read({ scope: 'project:shop', dry_run: 'true', unknown: 'ignored' })
    expect(request).toEqual({
      client: { name: 'shop-deploy', uid: client.slice(12) },
      subjectToken: 'a.b.c',
      targets: [],
      scope: { parsed: { projects: [{ project: 'shop' }] }, text: 'project:shop' },
      isDryRun: true,
    })
  })

  test.each(['a.b.c\n', 'a.b.c\r\n'])('take one line break off the token: %j', (token) => {
    expect(read({ subject_token: token }).subjectToken).toBe('a.b.c')
  })

  test('keep every further line break', () => expect(read({ subject_token: 'a.b.c\n\n' }).subjectToken).toBe('a.b.c\n'))

  test('may call the token an ID token', () =>
    expect(read({ subject_token_type: 'urn:ietf:params:oauth:token-type:id_token' }).subjectToken).toBe('a.b.c'))

  test.each<[Record<string, string | undefined>, string]>([
    [{ grant_type: undefined }, 'invalid_request: the parameter grant_type is missing or empty'],
    [
      { grant_type: 'client_credentials' },
      'unsupported_grant_type: grant_type must be urn:ietf:params:oauth:grant-type:token-exchange',
    ],
    [{ client_id: undefined }, 'invalid_request: the parameter client_id is missing or empty'],
    [{ subject_token: undefined }, 'invalid_request: the parameter subject_token is missing or empty'],
    [{ subject_token_type: undefined }, 'invalid_request: the parameter subject_token_type is missing or empty'],
    [
      { subject_token_type: 'urn:ietf:params:oauth:token-type:access_token' },
      'invalid_request: subject_token_type must be',
    ],
    [{ requested_token_type: 'urn:ietf:params:oauth:token-type:jwt' }, 'invalid_request: requested_token_type must be'],
    [{ audience: 'https://api.example.com' }, "invalid_target: audience 'https://api.example.com' is not known"],
    [{ resource: 'https://api.example.com' }, "invalid_target: resource 'https://api.example.com' is not known"],
    [{ client_secret: 'x' }, 'invalid_request: client_secret is not supported'],
    [{ client_assertion: 'x' }, 'invalid_request: client_assertion is not supported'],
    [{ actor_token: 'x' }, 'invalid_request: actor_token is not supported'],
    [{ actor_token_type: 'x' }, 'invalid_request: actor_token_type is not supported'],
    [{ dry_run: 'yes' }, 'invalid_request: dry_run must be true or false'],
    [
      { subject_token: `mpk_${'0'.repeat(49)}` },
      'invalid_request: the subject token is an access key, not an ID token',
    ],
  ])('are refused with %j', (given, why) => expect(refusalOf(() => read(given))).toContain(why))

  test.each([
    'shop-deploy',
    '@6f0c1f7e-0d6e-4c3e-9a53-1c0f7f7f4a10',
    'shop-deploy@',
    'shop-deploy@*',
    `Shop@${client.slice(12)}`,
    `shop/deploy@${client.slice(12)}`,
    `shop#deploy@${client.slice(12)}`,
    `-shop@${client.slice(12)}`,
    `${client}\n`,
    ` ${client}`,
    `${client}@${client.slice(12)}`,
    `${'a'.repeat(254)}@${client.slice(12)}`,
  ])('are refused with client_id %j', (id) => {
    expect(refusalOf(() => read({ client_id: id }))).toBe(
      'invalid_request: client_id must be NAME@UID of a FederatedIdentityCredential, which is its status.clientID',
    )
  })
})

describe('the requested scope', () => {
  test('becomes a scope of an access key', () => {
    const text = 'project:a  project:b space:a/dev virtualcluster:a/x cluster:west role:runner'
    expect(parseRequestedScope(text)).toEqual({
      projects: [{ project: 'a' }, { project: 'b' }],
      spaces: [{ project: 'a', space: 'dev' }],
      virtualClusters: [{ project: 'a', virtualCluster: 'x' }],
      clusters: [{ cluster: 'west' }],
      roles: [{ role: 'runner' }],
    })
  })

  test.each(cases.scopes)('is refused as %j', (text) => {
    expect(refusalOf(() => parseRequestedScope(text))).toMatch(/^invalid_scope: the scope '.*' is not (known|valid)/)
  })

  test('is refused with other characters, and with an access key', () => {
    const why = 'invalid_scope: the scope has invalid characters, or a credential'
    const texts = [
      'project:a\nb',
      'project:"a"',
      'project:\\',
      'project:é',
      `project:${generateAccessKey(randomBytes)}`,
    ]
    for (const text of texts) expect(refusalOf(() => parseRequestedScope(text))).toBe(why)
  })

  test('is refused with an unknown role, when empty and when too long', () => {
    expect(refusalOf(() => parseRequestedScope('role:admin'))).toBe(
      "invalid_scope: the scope 'role:admin' is not valid",
    )
    expect(refusalOf(() => parseRequestedScope(' '))).toBe('invalid_scope: the scope is empty')
    const many = Array.from({ length: 65 }, (_, index) => `project:p${index}`).join(' ')
    expect(refusalOf(() => parseRequestedScope(many))).toBe('invalid_scope: the scope has more than 64 parts')
  })
})

describe('the text of an error', () => {
  test('has the characters of RFC 6749 only, and at most 512', () => {
    expect(malformed('a "b" \\ é\n\u202e').message).toBe("a 'b' ? ???")
    expect(malformed('x'.repeat(1000)).message).toHaveLength(512)
  })

  // threat: exchange-58
  test('has no access key and no token', () =>
    expect(malformed(`see mpk_${'a'.repeat(49)}`).message).toBe('see <redacted>'))

  // threat: exchange-58
  test.each([
    ['refs/heads/main', "'refs/heads/main'"],
    ['it\'s "$(id)" `x`;', "'it%27s %22%24%28id%29%22 %60x%60%3B'"],
    ['##vso[task.setvariable variable=x]y', "'%23%23vso%5Btask.setvariable variable=x%5Dy'"],
    ['a\n::error::b\u001b[31m', "'a%0A::error::b%1B%5B31m'"],
    ['é\ud800', "'%C3%A9%EF%BF%BD'"],
    ['x'.repeat(200), `'${'x'.repeat(128)}...'`],
    [`mpk_${'a'.repeat(49)}`, "'<redacted>...'"],
  ])('quotes the value %j so that no shell and no CI system acts on it', (value, shown) => {
    expect(quoteValue(value)).toBe(shown)
  })
})

describe('the form of the answer', () => {
  test.each([
    [undefined, 'json'],
    ['*/*', 'json'],
    ['application/json', 'json'],
    ['application/*', 'json'],
    ['text/plain', 'text'],
    ['application/json;as=ExecCredential;v=v1;g=client.authentication.k8s.io', { execCredential: 'v1' }],
    [
      'application/json;g=client.authentication.k8s.io;v=v1;as=ExecCredential, application/json',
      { execCredential: 'v1' },
    ],
    ['application/json;as=ExecCredential;v=v1beta1;g=client.authentication.k8s.io', { execCredential: 'v1beta1' }],
    ['application/json;as=ExecCredential;v=v1alpha1;g=client.authentication.k8s.io', undefined],
    ['application/json;as=Table;v=v1;g=meta.k8s.io, application/json;q=0.5', 'json'],
    ['application/yaml', undefined],
    ['text/html', undefined],
  ])('for Accept %s is %s', (accept, form) =>
    expect(negotiateToken(accept === undefined ? {} : { accept })).toEqual(form),
  )
})
