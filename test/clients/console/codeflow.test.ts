import { describe, expect, test } from 'vitest'
import { KnownError } from '../../../clients/console/src/api/status.ts'
import { type Attempt, isAnswer, keepAttempt, takeAttempt } from '../../../clients/console/src/session/attempt.ts'
import { authorizationURL, parametersOf, redeem } from '../../../clients/console/src/session/codeflow.ts'
import { type Provider, providerOf, shortened } from '../../../clients/console/src/session/provider.ts'
import { type SignInSettings, signInSettings } from '../../../clients/console/src/session/signinsettings.ts'

const issuer = 'https://login.company.example/realms/staff'
const settings: SignInSettings = {
  issuer,
  clientID: 'keyplane & co',
  credential: 'staff@5d0a3a55-6d6f-4d0e-8a0f-3f1f6c0d9b11',
  scopes: 'openid email',
  origins: ['https://login.company.example'],
}
const discovery = { issuer, authorization_endpoint: `${issuer}/auth?tenant=a`, token_endpoint: `${issuer}/token` }
const provider: Provider = providerOf(discovery, settings)
const attempt: Attempt = {
  state: 's',
  nonce: 'n',
  verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  hash: '#/keys',
  keep: false,
}

/** Returns the words of the error that is thrown. */
function wordsOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof KnownError) return [error.words.title, ...error.words.details].join(' ')
    throw error
  }
  throw new Error('nothing is thrown')
}

/** A store in memory with the two operations that are used. */
function memory() {
  const items = new Map<string, string>()
  return {
    items,
    storage: {
      getItem: (name: string) => items.get(name) ?? null,
      setItem: (name: string, value: string) => void items.set(name, value),
      removeItem: (name: string) => void items.delete(name),
    } as unknown as Storage,
  }
}

test('an attempt is taken once', () => {
  const { storage, items } = memory()
  keepAttempt(storage, attempt)
  expect(takeAttempt(storage)).toEqual(attempt)
  expect(items.size).toBe(0)
  expect(takeAttempt(storage)).toBeUndefined()
})

// threat: signin-2
test('the address at the identity provider has the parameters of the protocol, and keeps its own', async () => {
  const url = new URL(await authorizationURL(provider, settings, attempt, 'https://keys.example.com/console/'))
  expect(url.origin + url.pathname).toBe(`${issuer}/auth`)
  expect(Object.fromEntries(url.searchParams)).toEqual({
    tenant: 'a',
    response_type: 'code',
    client_id: 'keyplane & co',
    redirect_uri: 'https://keys.example.com/console/',
    scope: 'openid email',
    state: 's',
    nonce: 'n',
    // RFC 7636, appendix B
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  })
})

test.each([
  [undefined, 'login'],
  [['none', 'login', 'consent'], 'login'],
  [['login', 'select_account'], 'select_account'],
])('of an identity provider with the prompts %j, the account is asked for with %s', async (prompts, prompt) => {
  const chosen = providerOf({ ...discovery, prompt_values_supported: prompts }, settings)
  const url = await authorizationURL(chosen, settings, attempt, 'https://keys.example.com/console/', true)
  expect(new URL(url).searchParams.get('prompt')).toBe(prompt)
})

describe('a discovery document', () => {
  // threat: signin-9
  test.each([
    ['https://login.company.example/end', 'https://login.company.example/end'],
    ['http://login.company.example/end', undefined],
    ['javascript:alert(1)', undefined],
    [undefined, undefined],
  ])('has a page for signing out only with https: %j', (end_session_endpoint, address) => {
    expect(providerOf({ ...discovery, end_session_endpoint }, settings).endSession?.href).toBe(address)
  })

  // threat: signin-5
  test.each([
    ['names another issuer', { ...discovery, issuer: `${issuer}/` }, 'It is not'],
    ['is empty', {}, 'its discovery document names undefined'],
    ['has no token endpoint', { ...discovery, token_endpoint: undefined }, 'has no token_endpoint with https'],
    ['has a plain endpoint', { ...discovery, authorization_endpoint: 'http://a.example' }, 'no authorization_endpoint'],
    ['has a script', { ...discovery, authorization_endpoint: 'javascript:alert(1)' }, 'no authorization_endpoint'],
    ['has no URL', { ...discovery, authorization_endpoint: 'auth' }, 'no authorization_endpoint'],
    [
      'has a token endpoint elsewhere',
      { ...discovery, token_endpoint: 'https://tokens.example/token' },
      'Its token endpoint is at https://tokens.example, which the setting console-origins does not allow.',
    ],
  ])('is refused if it %s', (_, document, words) => {
    expect(wordsOf(() => providerOf(document, settings))).toContain(words)
  })

  test('may have a token endpoint at an origin that the deployment allows', () => {
    const origins = [...settings.origins, 'https://tokens.example']
    const elsewhere = providerOf(
      { ...discovery, token_endpoint: 'https://tokens.example/token' },
      { ...settings, origins },
    )
    expect(elsewhere.server.token_endpoint).toBe('https://tokens.example/token')
  })

  test('has long texts only in part', () => {
    expect(shortened('a'.repeat(300))).toHaveLength(300)
    expect(shortened('a'.repeat(10_000))).toBe(`${'a'.repeat(300)}…`)
  })
})

describe('an answer', () => {
  const code = (search: string, more: object = {}) =>
    parametersOf(search, attempt, settings, { ...provider, server: { ...provider.server, ...more } }).get('code')
  const namesIssuer = { authorization_response_iss_parameter_supported: true }
  const foreign = 'This sign-in was not started in this tab.'

  test('has a code, with or without the issuer', () => {
    expect(code('?code=a%2Bb&state=s')).toBe('a+b')
    expect(code(`?code=c&state=s&iss=${encodeURIComponent(issuer)}`, namesIssuer)).toBe('c')
  })

  test.each([
    ['another state', '?code=c&state=t'],
    ['no state', '?code=c'],
    ['two states', '?code=c&state=s&state=s'],
    ['an error for another state', '?error=access_denied&state=t'],
    ['another issuer', `?code=c&state=s&iss=${encodeURIComponent(`${issuer}/`)}`],
    ['two issuers', `?code=c&state=s&iss=${encodeURIComponent(issuer)}&iss=https://a`],
    ['another issuer and an error', '?error=access_denied&state=s&iss=https://a'],
  ])('with %s is refused', (_, search) => expect(wordsOf(() => code(search))).toBe(foreign))

  test('without an attempt is refused', () =>
    expect(wordsOf(() => parametersOf('?code=c&state=s', undefined, settings, provider))).toBe(foreign))

  test('without its issuer is refused if the identity provider names itself', () =>
    expect(wordsOf(() => code('?code=c&state=s', namesIssuer))).toBe(foreign))

  test('with an empty code is refused', async () => {
    const parameters = parametersOf('?code=&state=s', attempt, settings, provider)
    await expect(redeem(parameters, attempt, settings, provider, '')).rejects.toMatchObject({
      words: { details: ['Its answer has no code.'] },
    })
  })

  test('with an error has its words', () => {
    expect(wordsOf(() => code('?error=access_denied&state=s&error_description=Not+you'))).toBe(
      'Your identity provider refused the sign-in. access_denied: Not you',
    )
    expect(wordsOf(() => code(`?error=${'a'.repeat(1000)}&state=s`))).toMatch(/a{200}…$/)
  })

  test('is recognized by its code or its error', () =>
    expect(['?code=', '?error=a', '?x=1', ''].map(isAnswer)).toEqual([true, true, false, false]))
})

test('the settings are those in the page', () => {
  expect(signInSettings(JSON.stringify(settings))).toEqual(settings)
  expect(signInSettings(undefined)).toBeUndefined()
})
