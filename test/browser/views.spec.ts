/**
 * Checks every view in both colour schemes and two widths: axe finds nothing, everything fits into the window, also into the narrowest
 * and the widest one, and the guards find nothing. With SCREENSHOTS it also takes the pictures of docs/console (`npm run screenshots`).
 */

import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { patience } from '../support/patience.ts'
import { axeProblems, COLOR_RULES } from './support/axe.ts'
import { consoleOf, contextOptions, loaded, test } from './support/browser.ts'
import { type Demo, startDemo } from './support/demo.ts'
import { misfits } from './support/fits.ts'
import { guard } from './support/guards.ts'
import { withPalette } from './support/palette.ts'
import { SCHEMES, views, WIDTHS } from './support/views.ts'

const pictures = join(import.meta.dirname, '../../docs/console')

let demo: Demo
beforeAll(async () => {
  demo = await startDemo()
})
afterAll(() => demo.server.stop())

const variants = Object.entries(WIDTHS).map(([width, size]) => ({ width, size }))

test.for(variants)('every view is in order in both schemes and $width', async ({ width, size }, { chromium }) => {
  const address = consoleOf(demo.server.url)
  const context = await chromium.newContext(contextOptions(size))
  try {
    const guards = await guard(context, new URL(address).origin)
    // Some views show a key.
    guards.allowKeyIn('text')
    const page = await context.newPage()
    page.setDefaultTimeout(patience.timeout)
    await page.clock.setFixedTime(demo.now)
    await page.goto(address)
    for (const view of views) {
      await view.open(page, demo)
      // The same document in both schemes: only its colours differ.
      for (const scheme of SCHEMES) {
        await page.emulateMedia({ colorScheme: scheme })
        await settled(page)
        const rules = scheme === 'light' ? undefined : COLOR_RULES
        const problems = [...(await axeProblems(page, rules)), ...(await misfits(page))]
        expect.soft([view.name, scheme, problems]).toEqual([view.name, scheme, []])
        if (process.env.SCREENSHOTS) await take(page, `${view.name}-${scheme}-${width}.png`)
        await page.setViewportSize({ ...size, width: size.extreme })
        expect
          .soft([view.name, scheme, size.extreme, await misfits(page)])
          .toEqual([view.name, scheme, size.extreme, []])
        await page.setViewportSize(size)
      }
      await page.emulateMedia({ colorScheme: 'light' })
      await view.leave?.(page, demo)
    }
    expect(await guards.finish()).toEqual([])
  } finally {
    await context.close()
  }
})

test('every entry of the pages has a view, and marks one link of the header', async () => {
  const text = await readFile(join(import.meta.dirname, '../../clients/console/src/shell/pages.ts'), 'utf8')
  const entries = [...text.matchAll(/\bpage: '([\w-]+)',\s+parts: (\d)[^}]*/g)].map(([entry, page = '', parts]) => ({
    page,
    parts: Number(parts),
    isLink: /\bisLink: /.test(entry),
    marks: /\bwithin: '([\w-]+)'/.exec(entry)?.[1] ?? page,
  }))
  expect(entries.length).toBeGreaterThan(0)
  const shown = views.map(({ entry }) => String(entry))
  expect(entries.filter(({ page, parts }) => !shown.includes(String([page, parts])))).toEqual([])
  const links = entries.filter(({ isLink }) => isLink).map(({ page }) => page)
  expect(entries.filter(({ marks }) => !links.includes(marks))).toEqual([])
})

describe('docs/console.md', () => {
  const names = views.flatMap(({ name }) =>
    SCHEMES.flatMap((scheme) => variants.map(({ width }) => `${name}-${scheme}-${width}.png`)),
  )

  test('has the four pictures of every view, and no others', async () => {
    expect((await readdir(pictures)).toSorted()).toEqual(names.toSorted())
  })

  test('shows each picture once', async () => {
    const text = await readFile(`${pictures}.md`, 'utf8')
    expect(names.filter((name) => text.split(`"console/${name}"`).length !== 2)).toEqual([])
  })

  test('has pictures of 3 MB at most', async () => {
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(pictures, name))).size))
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(3_000_000)
  })
})

/** Waits until the page shows its data and no animation runs. */
async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await loaded(page)
  // No row looks as if somebody pointed at it.
  await page.mouse.move(0, 0)
  await page.evaluate(() => window.scrollTo(0, 0))
  await page.evaluate(() => Promise.all(document.getAnimations().map((one) => one.finished)))
}

async function take(page: Page, name: string): Promise<void> {
  await mkdir(pictures, { recursive: true })
  // Above a dialog, a picture of the whole page would have a backdrop that ends with the first screen.
  const fullPage = (await page.getByRole('dialog').count()) === 0
  const png = await page.screenshot({ fullPage, caret: 'hide', animations: 'disabled' })
  await writeFile(join(pictures, name), withPalette(png))
}
