/**
 * `test` for specs of the console. It starts the local server once for each file, and opens pages of a real browser, which fail the
 * test if they break a rule of `guards.ts`. Wait with `locator.waitFor()` and `expect.poll`, never for a time.
 */

import type { BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { expect, test as plain } from 'vitest'
import { patience } from '../../support/patience.ts'
import { startedServer } from '../../support/startedserver.ts'
import { launchBrowser } from './chromium.ts'
import { type Guards, guard } from './guards.ts'

export interface PageOptions {
  /** The part of the address after the folder of the console, such as `#/keys`. */
  path?: string
  colorScheme?: 'light' | 'dark'
  width?: number
  height?: number
  reducedMotion?: 'reduce' | 'no-preference'
  /** Opens the page in the browser of another one, as a second tab. By default it is in a browser without a past. */
  beside?: Page
  /** Loads nothing: the test prepares the page before it calls `goto`. */
  blank?: boolean
}

export const test = plain
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads what a fixture needs from its pattern.
  .extend('chromium', { scope: 'worker' }, async ({}, { onCleanup }) => {
    const browser = await launchBrowser()
    onCleanup(() => browser.close())
    return browser
  })
  // biome-ignore lint/correctness/noEmptyPattern: as above.
  .extend('server', { scope: 'file' }, async ({}, { onCleanup }) => {
    const server = await startedServer()
    onCleanup(() => server.stop())
    return server
  })
  /** The address of the console, with a slash at its end. */
  .extend('address', { scope: 'file' }, ({ server }) => consoleOf(server.url))
  .extend('visits', async ({ chromium, server, address }, { onCleanup }) => {
    const contexts = new Map<BrowserContext, Guards>()
    onCleanup(async () => {
      const found = await Promise.all([...contexts.values()].map((guards) => guards.finish()))
      await Promise.all([...contexts.keys()].map((context) => context.close()))
      expect(found.flat(), 'problems of the pages').toEqual([])
    })
    return {
      async open({ path = '', beside, blank = false, ...options }: PageOptions = {}): Promise<Page> {
        const context = beside?.context() ?? (await chromium.newContext(contextOptions(options)))
        if (!contexts.has(context)) {
          const guards = await guard(context, new URL(address).origin)
          guards.addSecret(server.adminKey)
          contexts.set(context, guards)
        }
        const page = await context.newPage()
        page.setDefaultTimeout(patience.timeout)
        if (!blank) await page.goto(`${address}${path}`)
        return page
      },
      guardsOf(page: Page): Guards {
        const guards = contexts.get(page.context())
        if (!guards) throw new Error('the test has not opened this page')
        return guards
      },
    }
  })
  /** Opens a further page. */
  .extend('openPage', ({ visits }) => visits.open)
  /** A page of 1280 by 800 pixels that shows the console. */
  .extend('page', ({ visits }) => visits.open())
  /** The guards of `page`. */
  .extend('guards', ({ visits, page }) => visits.guardsOf(page))

/** Returns the address of the console beside an API. */
export const consoleOf = (api: string): string => new URL('../console/', api).href

/** Returns the options of a browser whose pictures do not depend on this machine. */
export const contextOptions = ({
  colorScheme = 'light',
  reducedMotion = 'no-preference',
  width = 1280,
  height = 800,
}: PageOptions): BrowserContextOptions => ({
  // The certificate authority of the local server is its own. No other host is found.
  ignoreHTTPSErrors: true,
  viewport: { width, height },
  colorScheme,
  reducedMotion,
  locale: 'en-US',
  timezoneId: 'UTC',
  hasTouch: width < 600,
  permissions: ['clipboard-write'],
})

/** Signs in with a key as a person does who has it in the clipboard. */
export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('Access key').fill(key)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
  await listening(page.getByRole('main'))
}

/**
 * Waits until something in a part of the page has the focus. That comes together with what the page begins to listen to after it is
 * drawn: the address, keys, time without input.
 */
export async function listening(part: Locator): Promise<void> {
  await part.locator(':focus').waitFor()
}

/** Changes the address as a person does who edits it, and waits until the page follows. */
export async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate(async (wanted) => {
    const before = location.href
    const followed = new Promise((resolve) => addEventListener('hashchange', resolve, { once: true }))
    location.hash = wanted
    if (location.href !== before) await followed
  }, hash)
}

/** Returns the text in the clipboard, as a person pastes it elsewhere: the console itself may not read it. */
export async function clipboardText(page: Page): Promise<string> {
  const context = await page.context().browser()?.newContext()
  if (!context) throw new Error('the page has no browser')
  try {
    const elsewhere = await context.newPage()
    await elsewhere.setContent('<textarea></textarea>')
    const field = elsewhere.locator('textarea')
    await field.press('Control+V')
    return await field.inputValue()
  } finally {
    await context.close()
  }
}

/** Waits until the page has all its data. */
export async function loaded(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  const waiting = page.locator('.loading').or(page.getByText('Loading…', { exact: true }))
  await expect.poll(() => waiting.count()).toBe(0)
}
