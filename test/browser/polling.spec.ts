/** How pages stay fresh: by asking while somebody looks, less often after a failure, and never without being looked at. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { goTo, type PageOptions, signIn, test } from './support/browser.ts'
import { cutNetwork, failRequests, statusOf } from './support/faults.ts'
import type { Guards } from './support/guards.ts'
import { deleteKey, makeKey } from './support/keys.ts'

const MINUTE = 60_000

/** Returns the lists of keys that were asked for. */
const listsIn = ({ requests }: Guards) => requests.filter((request) => /\/ownedaccesskeys\?/.test(request.url()))
const lists = (guards: Guards) => listsIn(guards).length

const spec = test.extend(
  'watched',
  async ({ openPage, visits, address, server }) =>
    async (options: PageOptions = {}) => {
      const page = await openPage({ ...options, blank: true })
      await page.clock.install()
      await page.goto(`${address}#/keys`)
      const { name } = await makeKey(server, 'first')
      await signIn(page, server.adminKey)
      await page.getByText(name).first().waitFor()
      return { page, guards: visits.guardsOf(page), name }
    },
)

/** Says that the page has lost the focus, or has it again, as the browser does when the person turns to another window. */
async function setFocus(page: Page, hasFocus: boolean): Promise<void> {
  await page.evaluate((value) => {
    document.hasFocus = () => value
    window.dispatchEvent(new Event(value ? 'focus' : 'blur'))
  }, hasFocus)
}

/**
 * Lets time pass for somebody who uses the keyboard, because without input the session ends after 15 minutes. A request that is under way
 * is answered first: the clock would end it by its time limit.
 */
async function pass(page: Page, guards: Guards, milliseconds: number): Promise<void> {
  await Promise.all(listsIn(guards).map(async (request) => (await request.response())?.finished()))
  await page.keyboard.press('Shift')
  await page.clock.fastForward(milliseconds)
}

/** Lets time pass until the page shows a text. */
const passUntil = (page: Page, guards: Guards, text: string) =>
  expect
    .poll(
      async () => {
        await pass(page, guards, MINUTE)
        return page.getByText(text).count()
      },
      { interval: 1000 },
    )
    .toBeGreaterThan(0)

spec('shows what others change, without a reload', async ({ watched, server }) => {
  const { page, guards, name } = await watched()
  await deleteKey(server, name)
  const later = await makeKey(server, 'later')
  await passUntil(page, guards, later.name)
  expect(await page.getByText(name).count()).toBe(0)
})

spec('asks at most every 15 seconds', async ({ watched }) => {
  const { page, guards } = await watched()
  const clock = () => page.evaluate(() => Date.now())
  const start = await clock()
  const before = lists(guards)
  while (lists(guards) - before < 6) await pass(page, guards, 5000)
  expect((await clock()) - start).toBeGreaterThanOrEqual(75_000)
})

spec('asks nothing without the focus, and at once when it is back', async ({ watched, server }) => {
  const { page, guards } = await watched()
  await setFocus(page, false)
  await page.clock.fastForward(MINUTE)
  const before = guards.requests.length
  for (let minutes = 0; minutes < 5; minutes++) await page.clock.fastForward(MINUTE)
  const { name } = await makeKey(server, 'meanwhile')
  expect(guards.requests.length).toBe(before)
  await setFocus(page, true)
  await page.getByText(name).first().waitFor()
})

spec('says when it could not ask, how old the data is, and recovers by itself', async ({ watched, server }) => {
  const { page, guards, name } = await watched()
  const end = await failRequests(
    page,
    'ownedaccesskeys',
    statusOf(503, 'ServiceUnavailable', 'the store does not answer'),
  )
  const words = 'This page could not be refreshed.'
  await passUntil(page, guards, words)
  const banner = page.getByText(words)
  await page.getByText(name).first().waitFor()
  await page.clock.fastForward(3 * MINUTE)
  await expect
    .poll(() => page.getByRole('status').filter({ has: banner }).locator('time').innerText())
    .toMatch(/^\d+ minutes ago$/)

  // The longer it lasts, the less often the page asks.
  await page.mouse.click(600, 700)
  const before = lists(guards)
  for (let count = 0; count < 20; count++) await page.clock.runFor(30_000)
  expect(lists(guards) - before).toBeLessThanOrEqual(6)

  await page.mouse.click(600, 700)
  const { name: later } = await makeKey(server, 'later')
  await end()
  await passUntil(page, guards, later)
  expect(await banner.count()).toBe(0)
})

spec('tries again at once when the person asks for it', async ({ watched, server }) => {
  const { page, guards } = await watched()
  const restore = await cutNetwork(page, guards)
  await passUntil(page, guards, 'The server cannot be reached.')
  const { name } = await makeKey(server, 'later')
  await restore()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText(name).first().waitFor()
})

spec(
  'says nothing of a part that nobody would miss and that could not be loaded',
  async ({ openPage, visits, address, server }) => {
    const page = await openPage({ blank: true })
    visits.guardsOf(page).allowMessage(/Failed to load resource/)
    await page.route('**/console/getstarted-*.js', (route) => route.abort())
    await page.goto(address)
    const failed = page.waitForEvent('requestfailed', (request) => /\/getstarted-/.test(request.url()))
    await signIn(page, server.adminKey)
    await failed
    await page.getByText('vcluster-demo').first().waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  },
)

spec('says in words what the first request for a page failed with', async ({ openPage, server }) => {
  const page = await openPage()
  const end = await failRequests(page, 'ownedaccesskeys', {
    status: 504,
    body: { message: 'Endpoint request timed out' },
  })
  await signIn(page, server.adminKey)
  await page.getByRole('alert').waitFor()
  expect(await page.getByRole('alert').innerText()).toMatch(/The server took too long\./)
  await end()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('vcluster-demo').first().waitFor()
})

spec('ends a request when the person leaves the page', async ({ openPage, server }) => {
  const page = await openPage()
  const cancelled = page.waitForEvent('requestfailed', (request) => /\/ownedaccesskeys\?/.test(request.url()))
  await page.route(/\/ownedaccesskeys\?/, () => {})
  await signIn(page, server.adminKey)
  await goTo(page, '#/nowhere')
  expect((await cancelled).failure()?.errorText).toBe('net::ERR_ABORTED')
})
