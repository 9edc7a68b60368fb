/** Signing in to the console with an identity provider: oidc-provider, over TLS, and the exchange of the API. */
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { contextOptions, goTo, test as plain } from './support/browser.ts'
import { type FederatedConsole, startFederatedConsole } from './support/federatedconsole.ts'
import { type Guards, guard } from './support/guards.ts'
import { focused } from './support/keyboard.ts'

let at: FederatedConsole
let context: BrowserContext | undefined
let guards: Guards
let page: Page

beforeAll(async () => {
  at = await startFederatedConsole()
})
afterAll(() => at.stop())

const signedIn = (): Promise<void> => page.getByRole('button', { name: 'Sign out' }).waitFor()
const start = (): Promise<void> => page.getByRole('button', { name: /^Sign in with / }).click()

/** The keys that the page has used, in their order. */
const usedKeys = async (): Promise<string[]> => {
  const sent = await Promise.all(guards.requests.map((request) => request.allHeaders()))
  return [...new Set(sent.flatMap(({ authorization }) => authorization?.replace('Bearer ', '') ?? []))]
}
/** Waits until the key of the session before has ended. */
async function onlyTheLastWorks(): Promise<void> {
  const [first = '', last = ''] = await usedKeys()
  await expect.poll(() => at.userOf(first)).toBeUndefined()
  expect(await at.userOf(last)).toBe('company:alice@example.com')
}
const test = plain.extend('visit', ({ chromium }) => async (path = '') => {
  at.expect('alice')
  at.allowCORS(true)
  context = await chromium.newContext(contextOptions({}))
  guards = await guard(context, new URL(at.address).origin)
  guards.allowOrigin(at.issuer)
  page = await context.newPage()
  await page.goto(`${at.address}${path}`)
})
afterEach(async () => {
  if (!context) return
  const problems = await guards.finish()
  await context.close()
  context = undefined
  expect(problems).toEqual([])
})

const signInAt = async (visit: (path?: string) => Promise<void>, path?: string): Promise<void> => {
  await visit(path)
  await start()
  await signedIn()
}

/** Changes the address at the identity provider before the browser goes there. */
const changeRequest = (change: (url: URL) => void): Promise<unknown> =>
  page.route(`${at.issuer}/auth?*`, (route) => {
    const url = new URL(route.request().url())
    change(url)
    return route.continue({ url: url.href })
  })

/** Answers in place of the identity provider, with the state of the attempt. */
const answerWith = (answer: (state: string) => Record<string, string>): Promise<unknown> =>
  page.route(`${at.issuer}/auth?*`, (route) => {
    const state = new URL(route.request().url()).searchParams.get('state') ?? ''
    const location = `${at.address}?${new URLSearchParams(answer(state))}`
    return route.fulfill({ status: 303, headers: { location } })
  })

/** Waits for the reason why nobody is signed in. */
const reason = async (...texts: string[]): Promise<void> => {
  for (const text of texts) await page.getByText(text).waitFor()
  await expect.poll(() => page.url().split('#')[0]).toBe(at.address)
  await expect.poll(() => page.evaluate(() => sessionStorage.length)).toBe(0)
}
const requestsTo = (part: string) => guards.requests.filter((request) => request.url().includes(part))

// threat: signin-3
test('comes back to the same page with a key that ends with the session', async ({ visit }) => {
  await signInAt(visit, '#/keys?show=expired')
  await expect.poll(() => page.url()).toBe(`${at.address}#/keys?show=expired`)
  const [key = '', ...others] = await usedKeys()
  expect(others).toEqual([])
  expect(await at.userOf(key)).toBe('company:alice@example.com')
  // The code is in neither the address nor the history, and nothing is kept.
  await page.goBack()
  await page.goForward()
  expect(page.url()).not.toContain('code=')
  await expect.poll(() => page.evaluate(() => JSON.stringify(sessionStorage))).toBe('{}')
})

test('begins with what a key is and how to make one, although the session has a key', async ({ visit }) => {
  await signInAt(visit, '#/keys')
  await page.getByRole('heading', { name: 'There are no keys yet' }).waitFor()
  await page.getByRole('button', { name: /^Show the (key of an exchange|\d+ keys of exchanges)$/ }).click()
  await page.getByText(/^\d+ keys?$/).waitFor()
})

test('is the first thing that Enter does', async ({ visit }) => {
  await visit()
  await expect.poll(() => focused(page)).toMatch(/^button "Sign in with login\.test/)
  await page.keyboard.press('Enter')
  await signedIn()
})

// threat: signin-7
test('sends the code with its verifier to the identity provider, and the ID token to the API alone', async ({
  visit,
}) => {
  await signInAt(visit)
  const [asked] = requestsTo('/auth?')
  const query = new URL(asked?.url() ?? '').searchParams
  expect([query.get('response_type'), query.get('code_challenge_method'), query.get('scope')]).toEqual([
    'code',
    'S256',
    'openid email groups',
  ])
  expect(query.get('redirect_uri')).toBe(at.address)
  for (const name of ['state', 'nonce', 'code_challenge']) expect(query.get(name)).toMatch(/^[\w-]{43}$/)
  const [redeemed] = requestsTo(`${at.issuer}/token`).filter((one) => one.method() === 'POST')
  expect(new URLSearchParams(redeemed?.postData() ?? '').get('code_verifier')).toMatch(/^[\w-]{43}$/)
  const withTokens = guards.requests.filter((one) => /subject_token=/.test(one.postData() ?? ''))
  expect(withTokens.map((one) => one.url())).toEqual([`${at.api}/oauth2/token`])
})

// threat: signin-8
test('ends the key when the person signs out', async ({ visit }) => {
  await signInAt(visit)
  const [key = ''] = await usedKeys()
  expect(await at.userOf(key)).toBe('company:alice@example.com')
  const revoked = page.waitForResponse((response) => response.url().endsWith('/oauth2/revoke'))
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect((await revoked).status()).toBe(200)
  expect(await at.userOf(key)).toBeUndefined()
})

test('offers a kube config that needs no access key, and says which ones do', async ({ visit }) => {
  await visit('#/virtual-clusters')
  await start()
  await page.getByRole('link', { name: 'shop/oak' }).click()
  const main = page.getByRole('main')
  const notice = main.getByText('You signed in without an access key.')
  await main.getByRole('button', { name: 'Download', exact: true }).waitFor()
  expect(await notice.isVisible()).toBe(false)
  await main.getByText('Tokens that curl fetches').click()
  await notice.waitFor()
})

// threat: signin-9
test('asks for the account after signing out and after a refusal, and leads to where people sign out', async ({
  visit,
}) => {
  await visit()
  const prompts = () => requestsTo('/auth?').map((one) => new URL(one.url()).searchParams.get('prompt'))
  at.refuse({ error: 'access_denied' })
  await start()
  const link = page.getByRole('link', { name: /^Sign out at / })
  expect(await link.getAttribute('href')).toBe(`${at.issuer}/session/end?client_id=keyplane`)
  // Neither a reload nor another tab forgets it.
  await page.reload()
  await link.waitFor()
  at.expect('alice')
  await start()
  await signedIn()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await link.waitFor()
  page = (await context?.newPage()) ?? page
  await page.goto(at.address)
  await link.waitFor()
  await start()
  await signedIn()
  expect(prompts()).toEqual([null, 'login', 'login'])
  expect(await page.evaluate(() => localStorage.length)).toBe(0)
})

// threat: signin-8
test('says that a key may still work when the API does not confirm its end', async ({ visit }) => {
  await signInAt(visit)
  await page.route('**/oauth2/revoke', (route) => route.fulfill({ status: 503, body: '{}' }))
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('The server did not confirm that your key has ended. It expires in').waitFor()
})

// threat: signin-8
test('ends when its key expires, on a device that nobody uses', async ({ visit }) => {
  await visit()
  await page.clock.install()
  await start()
  await page.getByText(/Your session ends in [234] minutes/).waitFor()
  await page.clock.fastForward('05:00')
  await page.getByText('Your session has ended: its access key has expired.').waitFor()
  expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(0)
})

// threat: signin-10
test('offers another session before the end of this one, and comes back to the same page', async ({ visit }) => {
  await visit('#/keys')
  await start()
  await page.getByText(/Your session ends in [234] minutes/).waitFor()
  await goTo(page, '#/new-key?text=ci')
  await page.getByRole('button', { name: 'Sign in again' }).click()
  await expect.poll(async () => (await usedKeys()).length).toBe(2)
  await signedIn()
  await expect.poll(() => page.url()).toBe(`${at.address}#/new-key?text=ci`)
  expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
  await page
    .getByRole('banner')
    .getByText(/ends in [234] minutes/)
    .waitFor()
  await onlyTheLastWorks()
})

// threat: signin-10
test('keeps the key over a reload if the person asks for it, also after the detour', async ({ visit }) => {
  await visit()
  guards.allowKeyIn('sessionStorage')
  await page.getByRole('checkbox', { name: /^Keep the key for this tab/ }).check()
  await start()
  await signedIn()
  await page.reload()
  await page.getByText(/Your session ends in/).waitFor()
  expect(await usedKeys()).toHaveLength(1)
  await page.getByRole('button', { name: 'Sign in again' }).click()
  await expect.poll(async () => (await usedKeys()).length).toBe(2)
  await onlyTheLastWorks()
  await signedIn()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await expect.poll(() => page.evaluate(() => JSON.stringify(sessionStorage))).toBe('{}')
})

test('continues the kept session when signing in again fails', async ({ visit }) => {
  await visit('#/keys')
  guards.allowKeyIn('sessionStorage')
  await page.getByRole('checkbox', { name: /^Keep the key for this tab/ }).check()
  await start()
  await signedIn()
  await answerWith((state) => ({ error: 'access_denied', error_description: 'Not today', state, iss: at.issuer }))
  await page.getByRole('button', { name: 'Sign in again' }).click()
  await page.getByText('Your identity provider refused the sign-in. access_denied: Not today').waitFor()
  await signedIn()
  const [key = '', ...others] = await usedKeys()
  expect([await at.userOf(key), others]).toEqual(['company:alice@example.com', []])
})

// threat: signin-1
test('accepts no answer to an attempt that was not made in this tab', async ({ visit }) => {
  await visit('?code=stolen&state=known#/keys')
  await reason('This sign-in was not started in this tab.')
  expect(requestsTo(`${at.issuer}/token`)).toEqual([])
})

// threat: signin-1
test('accepts no answer twice', async ({ visit }) => {
  await signInAt(visit)
  const [answer] = requestsTo('?code=')
  await page.goto(answer?.url() ?? '')
  await reason('This sign-in was not started in this tab.')
})

// threat: signin-1, signin-4
test.for<[title: string, answer: (state: string) => Record<string, string>]>([
  ['with another state', () => ({ code: 'stolen', state: 'other', iss: at.issuer })],
  ['of another identity provider', (state) => ({ code: 'stolen', state, iss: 'https://elsewhere.example' })],
  ['without its issuer from an identity provider that names itself', (state) => ({ code: 'stolen', state })],
])('accepts no answer %s', async ([, answer], { visit }) => {
  await visit()
  await answerWith(answer)
  await start()
  await reason('This sign-in was not started in this tab.')
  expect(requestsTo(`${at.issuer}/token`)).toEqual([])
})

// threat: signin-2
test('accepts no ID token with another nonce', async ({ visit }) => {
  await visit()
  await changeRequest((url) => url.searchParams.set('nonce', 'other'))
  await start()
  await reason('This sign-in was not started in this tab.')
  expect(requestsTo('/oauth2/token')).toEqual([])
})

// threat: signin-2
test('accepts no code that was asked for with another verifier', async ({ visit }) => {
  await visit()
  guards.allowMessage(/status of 400/)
  await changeRequest((url) => url.searchParams.set('code_challenge', 'A'.repeat(43)))
  await start()
  await reason('Your identity provider refused the sign-in.')
})

// threat: signin-6
test('shows an error of the identity provider as text', async ({ visit }) => {
  await visit('#/keys')
  at.refuse({ error: 'access_denied', error_description: '<img src=x onerror=alert(1)>' })
  await start()
  await reason('access_denied: <img src=x onerror=alert(1)>', 'Try again, or sign in with an access key.')
  expect(await page.locator('img').count()).toBe(0)
  // The next attempt works.
  at.expect('alice')
  await start()
  await signedIn()
})

test('shows why the API makes no key', async ({ visit }) => {
  await visit()
  at.expect('mallory')
  await start()
  await reason(
    'You cannot sign in here with this account.',
    "claim sub is 'mallory', which this client_id does not accept",
    'The federated identity credential console decides who may sign in. Ask an administrator.',
  )
})

test('shows why API Gateway refuses the exchange', async ({ visit }) => {
  await visit()
  guards.allowMessage(/status of 429/)
  await page.route('**/oauth2/token', (route) => route.fulfill({ status: 429, json: { message: 'Too Many Requests' } }))
  await start()
  await reason('The server cannot check your sign-in at the moment.', 'Too Many Requests')
})

test('says that the identity provider does not allow requests of the page', async ({ visit }) => {
  await visit()
  guards.allowMessage(/CORS policy|net::ERR_FAILED|status of 400/)
  at.allowCORS(false)
  await start()
  await reason('Your identity provider cannot be used.', `${at.issuer} cannot be reached, or does not allow requests`)
})

test.for([
  ['fails', { status: 500, body: 'oops' }, 'code 500'],
  [
    'has no ID token',
    { status: 200, body: '{"access_token":"a"}' },
    'Its answer has no valid ID token: "response" body',
  ],
  ['is no JSON', { status: 200, body: '<html>' }, 'Its answer has no valid ID token: '],
] as const)('says that the token endpoint %s', async ([, answer, text], { visit }) => {
  await visit()
  guards.allowMessage(/status of 500/)
  await page.route(`${at.issuer}/token`, (route) =>
    route.fulfill({ ...answer, headers: { 'access-control-allow-origin': '*' } }),
  )
  await start()
  await reason(text)
})

// threat: signin-7
test('leaves nothing behind when the page is reloaded in the middle', async ({ visit }) => {
  await visit()
  const { promise: held, resolve: hold } = Promise.withResolvers<void>()
  await page.route('**/oauth2/token', () => hold())
  await start()
  await held
  await page.unroute('**/oauth2/token')
  await page.reload()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await expect.poll(() => page.url()).toBe(at.address)
  await expect.poll(() => page.evaluate(() => JSON.stringify(sessionStorage))).toBe('{}')
})
