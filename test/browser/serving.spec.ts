/** How the console is served: what its headers make a browser refuse. */
import { basename } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { axeProblems } from './support/axe.ts'
import { clipboardText, contextOptions, test } from './support/browser.ts'

// threat: page-2
test('loads without a complaint of the browser, from its own host only, at the address without a slash too', async ({
  visits,
  address,
}) => {
  const page = await visits.open({ blank: true })
  await page.goto(address.slice(0, -1))
  expect(page.url()).toBe(address)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  const { requests } = visits.guardsOf(page)
  const types = requests.map((request) => request.resourceType()).sort()
  expect(new Set(types.filter((type) => type !== 'other'))).toEqual(new Set(['document', 'script', 'stylesheet']))
})

test('keeps its scripts and styles over a reload, and not its page', async ({ page }) => {
  const first = await arrivedFiles(page)
  expect(Math.min(...first.values())).toBeGreaterThan(0)
  const reloaded = page.waitForResponse((response) => response.request().resourceType() === 'document')
  await page.reload()
  expect((await reloaded).status()).toBe(200)
  expect(await arrivedFiles(page)).toEqual(new Map([...first.keys()].map((name) => [name, 0])))
})

/**
 * Waits until the page has all that it loads before somebody signs in, with the page of keys, which it loads ahead. Returns how many
 * bytes came over the network for each file.
 */
async function arrivedFiles(page: Page): Promise<Map<string, number>> {
  const files = async () => {
    const found = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .filter(({ name }) => /\.(js|css)$/.test(name))
        .map((entry) => ({ name: entry.name, bytes: (entry as PerformanceResourceTiming).transferSize })),
    )
    return new Map(found.map(({ name, bytes }) => [basename(name), bytes]))
  }
  const kinds = async () => [...(await files()).keys()].map((name) => name.replace(/-.*\./, '.')).sort()
  await expect.poll(kinds).toEqual(['chunk.js', 'chunk.js', 'chunk.js', 'console.css', 'console.js', 'keysroute.js'])
  return await files()
}

// threat: page-9
test('shows its documentation without a complaint of the browser, on a phone too', async ({ visits, address }) => {
  const page = await visits.open({ blank: true })
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${address}docs/`)
  // Wide tables scroll inside the page.
  const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)
  for (const name of ['CI jobs', 'The day of a leak', 'Examples']) {
    await page.getByRole('link', { name, exact: true }).click()
    await page.getByRole('heading', { name, level: 1 }).waitFor()
    expect([await axeProblems(page), await fits()]).toEqual([[], true])
    await page.getByRole('link', { name: 'Documentation' }).click()
    await page.getByRole('heading', { name: 'Documentation', level: 1 }).waitFor()
    expect([await axeProblems(page), await fits()]).toEqual([[], true])
  }
})

test('may write to the clipboard and not read it', async ({ page, guards }) => {
  guards.allowMessage(/^Permissions policy violation: The Clipboard API/)
  await page.evaluate(() => navigator.clipboard.writeText('one text'))
  expect(await clipboardText(page)).toBe('one text')
  const refusal = page.evaluate(() => navigator.clipboard.readText())
  await expect(refusal).rejects.toThrow('permissions policy')
})

/** Attempts of injected code, with the directive of the policy that refuses them. */
const attempts: readonly [directive: string, attempt: () => unknown][] = [
  ['style-src-attr', () => document.body.setAttribute('style', 'display: none')],
  ['img-src', () => document.body.append(Object.assign(new Image(), { src: 'https://elsewhere.example/a.png' }))],
  ['connect-src', () => fetch('https://elsewhere.example/')],
  [
    'base-uri',
    () => document.head.append(Object.assign(document.createElement('base'), { href: 'https://elsewhere.example/' })),
  ],
  ['require-trusted-types-for', () => document.body.insertAdjacentHTML('beforeend', '<p>text</p>')],
  [
    'trusted-types',
    () =>
      (
        window as never as { trustedTypes: { createPolicy(name: string, rules: object): void } }
      ).trustedTypes.createPolicy('own', {}),
  ],
]

// threat: page-1
test.for(attempts)('refuses what %s forbids', async ([directive, attempt], { chromium, address }) => {
  // The guards of other tests count a refusal as a problem.
  const context = await chromium.newContext(contextOptions({}))
  try {
    const page = await context.newPage()
    await page.addInitScript(() => {
      addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
        document.documentElement.dataset.refused = effectiveDirective
      })
    })
    await page.goto(address)
    await page.evaluate(attempt).catch(() => {})
    await page.locator(`html[data-refused="${directive}"]`).waitFor()
    expect(page.url()).toBe(address)
  } finally {
    await context.close()
  }
})

// threat: page-4
test('cannot be shown in the page of another site', async ({ chromium, address }) => {
  const context = await chromium.newContext(contextOptions({}))
  try {
    const page = await context.newPage()
    await page.goto('about:blank')
    await page.evaluate(
      (src) => document.body.append(Object.assign(document.createElement('iframe'), { src })),
      address,
    )
    await expect.poll(() => page.frames().some((frame) => frame.url().startsWith('chrome-error:'))).toBe(true)
  } finally {
    await context.close()
  }
})
