/** The end of a session: by time, by the server and by the person, in one tab and in two. What was shown is gone afterwards. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import type { StartedServer } from '../support/startedserver.ts'
import { consoleOf, goTo, signIn, test } from './support/browser.ts'
import { holdRequests } from './support/faults.ts'
import { hasFocus, press } from './support/keyboard.ts'
import { changeKey, deleteKey, makeKey } from './support/keys.ts'

const MINUTE = 60_000

const signInButton = (page: Page) => page.getByRole('button', { name: 'Sign in', exact: true })
const signOutButton = (page: Page) => page.getByRole('button', { name: 'Sign out' })

/** Everything that the page holds: its text and what is in its fields and attributes. */
const content = (page: Page) => page.evaluate(() => document.documentElement.outerHTML)

/** Listens for an event of the window. Returns a function that resolves when the page has handled it. */
async function arrivalOf(page: Page, event: string): Promise<() => Promise<unknown>> {
  const listener = await page.evaluateHandle(
    (name) => ({ heard: new Promise<void>((resolve) => addEventListener(name, () => resolve(), { once: true })) }),
    event,
  )
  return () => listener.evaluate(({ heard }) => heard)
}

/** Opens a page whose time the test moves, as the administrator. */
async function open(openPage: (options: { blank: true }) => Promise<Page>, server: StartedServer): Promise<Page> {
  const page = await openPage({ blank: true })
  await page.clock.install()
  await page.goto(consoleOf(server.url))
  await signIn(page, server.adminKey)
  return page
}

describe('without input', () => {
  // threat: session-2
  test('a session ends after 15 minutes, and nothing of it is left', async ({ openPage, server }) => {
    const { name } = await makeKey(server, 'idle')
    const page = await open(openPage, server)
    await page.getByText(name).first().waitFor()
    await page.clock.fastForward(14 * MINUTE)
    await signOutButton(page).waitFor()
    await page.clock.fastForward(2 * MINUTE)
    await page.getByText('You were signed out after 15 minutes without input.').waitFor()
    expect(await content(page)).not.toContain(name)
    await expect.poll(() => page.title()).toBe('Sign in · keyplane')
  })

  // threat: session-2
  test('a kept session ends too, also when the tab slept or was reloaded meanwhile', async ({
    openPage,
    visits,
    server,
  }) => {
    const page = await openPage({ blank: true })
    visits.guardsOf(page).allowKeyIn('sessionStorage')
    await page.clock.install()
    await page.goto(consoleOf(server.url))
    await page.getByRole('checkbox', { name: /Keep/ }).check()
    await signIn(page, server.adminKey)
    await page.clock.fastForward(16 * MINUTE)
    await signInButton(page).waitFor()
    await expect.poll(() => page.evaluate(() => sessionStorage.length)).toBe(0)

    await page.getByRole('checkbox', { name: /Keep/ }).check()
    await signIn(page, server.adminKey)
    // The browser was closed, and opens its tabs again later.
    const kept = await page.evaluate(() => ({ ...sessionStorage }))
    const later = await openPage({ blank: true })
    visits.guardsOf(later).allowKeyIn('sessionStorage')
    await later.clock.install({ time: Date.now() + 60 * MINUTE })
    await later.addInitScript((items) => {
      for (const [name, value] of Object.entries(items)) sessionStorage.setItem(name, value)
    }, kept)
    await later.goto(consoleOf(server.url))
    await signInButton(later).waitFor()
    await expect.poll(() => later.evaluate(() => sessionStorage.length)).toBe(0)
  })

  test('a session ends before the first input on a device that slept', async ({ openPage, server }) => {
    const page = await open(openPage, server)
    await page.clock.setSystemTime(Date.now() + 480 * MINUTE)
    await page.mouse.click(640, 700)
    await page.getByText('You were signed out after 15 minutes without input.').waitFor()
  })

  // threat: session-2
  test('a session is no longer because the clock was set back', async ({ openPage, server }) => {
    const page = await open(openPage, server)
    await page.clock.setSystemTime(Date.now() - 60 * MINUTE)
    for (const minutes of [1, 15]) await page.clock.fastForward(minutes * MINUTE)
    await page.getByText('You were signed out after 15 minutes without input.').waitFor()
  })

  test('every input starts the 15 minutes again', async ({ openPage, server }) => {
    const page = await open(openPage, server)
    await page.clock.fastForward(6 * MINUTE)
    for (const [event, input] of [
      ['keydown', () => page.keyboard.press('Tab')],
      ['wheel', () => page.mouse.wheel(0, 10)],
      ['pointerdown', () => page.mouse.click(600, 700)],
    ] as const) {
      await page.clock.fastForward(8 * MINUTE)
      // The browser reports a turn of the wheel as done before the page hears of it.
      const arrival = await arrivalOf(page, event)
      await input()
      await arrival()
      // 14 minutes after the input before, if it counted, otherwise 20.
      await page.clock.fastForward(6 * MINUTE)
      await signOutButton(page).waitFor()
    }
  })
})

describe('when the key ends while the page is open', () => {
  const end = async (page: Page, name: string, words: RegExp) => {
    // The page asks the server when it is looked at again.
    await page.evaluate(() => window.dispatchEvent(new Event('focus')))
    await page.clock.fastForward(MINUTE)
    await page.getByText('Your access key is no longer valid.').waitFor()
    await page.getByText(words).waitFor()
    expect(await content(page)).not.toContain(name)
    await signInButton(page).waitFor()
  }

  // threat: session-6
  test.for([
    ['was disabled', { disabled: true }, /access key is disabled/],
    ['was deleted', undefined, /not known here/],
    ['has expired', { ttl: 1 }, /access key has expired/],
  ] as const)('the page says that it %s', async ([, change, words], { page, server }) => {
    const { name, value } = await makeKey(server, 'ending', { ttl: 3600 })
    await page.clock.install()
    await page.reload()
    await signIn(page, value)
    await page.getByText(name).first().waitFor()
    await (change ? changeKey(server, name, change) : deleteKey(server, name))
    const self = () => server.call('/apis/management.platform/v1/selves', { method: 'POST', body: {}, token: value })
    await expect.poll(async () => (await self()).status).toBe(401)
    await end(page, name, words)
  })
})

describe('signing out', () => {
  // threat: session-7
  test('with the keyboard leaves nothing of the session, also not on the way back', async ({ page, server }) => {
    const { name } = await makeKey(server, 'seen')
    await signIn(page, server.adminKey)
    await page.getByText(name).first().waitFor()
    await goTo(page, '#/nowhere')
    await page.getByRole('heading', { name: 'Not found' }).waitFor()
    await press(signOutButton(page))
    await signInButton(page).waitFor()
    expect(await content(page)).not.toContain(name)
    await page.goBack()
    await expect.poll(() => page.url()).not.toContain('nowhere')
    expect(await content(page)).not.toContain(name)
    await page.goForward()
    await expect.poll(() => page.url()).toContain('nowhere')
    expect(await content(page)).not.toContain(name)
    await signInButton(page).waitFor()
  })

  test('lets no late refusal of the last key end the next session', async ({ page, server }) => {
    const { name, value } = await makeKey(server, 'slow')
    await signIn(page, value)
    await goTo(page, '#/new-key')
    await page.getByLabel('Project', { exact: true }).fill('demo')
    const held = await holdRequests(page, 'ownedaccesskeys')
    const refusal = page.waitForResponse(
      (response) => response.request().method() === 'POST' && response.status() === 401,
    )
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByRole('button', { name: 'Checking…' }).waitFor()
    await signOutButton(page).click()
    await changeKey(server, name, { disabled: true })
    await signIn(page, server.adminKey)
    held()
    await refusal
    await page.getByRole('navigation').getByRole('link', { name: 'Keys' }).click()
    await page.getByText(name).first().waitFor()
    await signOutButton(page).waitFor()
  })
})

describe('in two tabs', () => {
  // threat: session-8
  test('each has its own session with its own key', async ({ page, openPage, server }) => {
    const [alice, bob] = await Promise.all([makeKey(server, 'alice'), makeKey(server, 'bob', { user: 'bob' })])
    const other = await openPage({ beside: page })
    await signIn(page, alice.value)
    await signIn(other, bob.value)
    await page.getByText(alice.name).first().waitFor()
    await other.getByText(bob.name).first().waitFor()
    expect(await content(page)).not.toContain(bob.name)
    expect(await content(other)).not.toContain(alice.name)
    await signOutButton(page).click()
    await signInButton(page).waitFor()
    await signOutButton(other).waitFor()
  })

  test('the same key ends in both when it is disabled', async ({ page, openPage, server }) => {
    const { name, value } = await makeKey(server, 'shared')
    const other = await openPage({ beside: page })
    for (const one of [page, other]) await signIn(one, value)
    await changeKey(server, name, { disabled: true })
    for (const one of [page, other]) {
      await one.bringToFront()
      await one.reload()
      await signInButton(one).waitFor()
      await one.getByLabel('Access key').fill(value)
      await signInButton(one).click()
      await one.getByText('This access key is disabled.').waitFor()
    }
  })
})

// threat: session-4
test('signing out ends the session in copies of the tab too, and in no other tab', async ({
  page,
  openPage,
  visits,
  server,
}) => {
  visits.guardsOf(page).allowKeyIn('sessionStorage')
  await page.getByRole('checkbox', { name: /Keep/ }).check()
  await signIn(page, server.adminKey)
  const kept = await page.evaluate(() => ({ ...sessionStorage }))
  const [copy, other] = [await openPage({ beside: page, blank: true }), await openPage({ beside: page })]
  await signIn(other, server.adminKey)
  await copy.addInitScript((items) => {
    if (!sessionStorage.copied) for (const [name, value] of Object.entries(items)) sessionStorage.setItem(name, value)
    sessionStorage.copied = 'once'
  }, kept)
  await copy.goto(consoleOf(server.url))
  await signOutButton(copy).waitFor()
  await signOutButton(page).click()
  await copy.getByText('You have signed out in a copy of this tab.').waitFor()
  expect(await page.getByText('in a copy of this tab').count()).toBe(0)
  expect(await copy.evaluate(() => Object.keys(sessionStorage))).toEqual(['copied'])
  await copy.reload()
  await signInButton(copy).waitFor()
  expect(await signOutButton(other).count()).toBe(1)
})

describe('what a person has typed', () => {
  // threat: session-5
  test('is gone with the session, and in no storage', async ({ openPage, server }) => {
    const page = await open(openPage, server)
    const field = page.getByLabel('Description (optional)', { exact: true })
    await goTo(page, '#/new-key')
    await field.fill('typed by one')
    expect(await page.evaluate(() => [sessionStorage.length, localStorage.length])).toEqual([0, 0])
    await page.clock.fastForward(16 * MINUTE)
    await signInButton(page).waitFor()
    await signIn(page, server.adminKey)
    expect(await field.inputValue()).toBe('')
  })

  test('is not discarded by Escape without a question', async ({ page, server }) => {
    await signIn(page, server.adminKey)
    const { name } = await makeKey(server, 'edited')
    await goTo(page, `#/keys/${name}`)
    const buttonOf = (text: string) => page.getByRole('button', { name: text, exact: true })
    const dialogs = [
      { label: 'Description', shown: 'Edit' },
      { label: 'Reason', shown: 'More actions', inMenu: 'Revoke all that it made' },
    ]
    for (const { label, shown, inMenu } of dialogs) {
      const open = async () => {
        await buttonOf(shown).click()
        if (inMenu) await buttonOf(inMenu).click()
      }
      const field = page.getByLabel(label, { exact: true })
      await open()
      const before = await field.inputValue()
      await field.fill('typed')
      for (const _ of ['once', 'twice', 'thrice']) await page.keyboard.press('Escape')
      await page.getByText('What you have typed is not sent.').waitFor()
      expect(await field.inputValue()).toBe('typed')
      await page.getByRole('button', { name: 'Discard it' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await open()
      expect(await field.inputValue()).toBe(before)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect(await hasFocus(buttonOf(shown))).toBe(true)
    }
  })
})

test('a wrong clock of the device is told, until the session ends', async ({ openPage, server }) => {
  const page = await openPage({ blank: true })
  await page.clock.install({ time: Date.now() - 190 * MINUTE })
  await page.goto(consoleOf(server.url))
  await signIn(page, server.adminKey)
  const words = page.getByText(/^The clock of this device is 3 hours behind that of the server\./)
  await words.waitFor()
  await press(signOutButton(page))
  await signInButton(page).waitFor()
  await words.waitFor({ state: 'detached' })
})
