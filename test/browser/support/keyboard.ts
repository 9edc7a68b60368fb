/** Uses a page as a person without a mouse does. */
import type { Locator, Page } from 'playwright-core'

/** More stops than any page has. */
const MOST = 150

/** Waits for the element, and presses Tab until it has the focus. Throws with all stops on the way if Tab never reaches it. */
export async function tabTo(target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  const page = target.page()
  await target.first().waitFor({ state: 'attached' })
  const stops: string[] = []
  while (!(await hasFocus(target))) {
    if (stops.length === MOST) throw new Error(`Tab does not reach ${target}. Its stops: ${stops.join(', ')}`)
    await page.keyboard.press(key)
    stops.push(await focused(page))
  }
}

/** Presses Tab until the element has the focus, and then a key, such as Enter on a link. */
export async function press(target: Locator, key = 'Enter'): Promise<void> {
  await tabTo(target)
  await target.page().keyboard.press(key)
}

/** Reports whether the element is there and has the focus. */
export const hasFocus = async (target: Locator): Promise<boolean> =>
  (await target.evaluateAll((elements) => elements.some((one) => one === document.activeElement))) === true

/** Returns the role and name of the element that has the focus, such as `button "Sign out"`. */
export async function focused(page: Page): Promise<string> {
  const element = page.locator(':focus')
  if ((await element.count()) === 0) return 'nothing'
  const [line = ''] = (await element.first().ariaSnapshot()).split('\n')
  return line.replace(/^- /, '').replace(/:.*$/, '')
}

/** Returns the stops of Tab from the start of the page to its end, with those that show no focus ring. */
export async function tabStops(page: Page): Promise<{ stops: string[]; ringless: string[] }> {
  const stops: string[] = []
  const ringless: string[] = []
  // Tab begins at the element that had the focus last.
  await page.locator('body').evaluate((body) => {
    body.tabIndex = -1
    body.focus()
    body.removeAttribute('tabindex')
  })
  for (let count = 0; count < MOST; count++) {
    await page.keyboard.press('Tab')
    const stop = await focused(page)
    if (stop === 'nothing') break
    stops.push(stop)
    const hasRing = await page.locator(':focus').evaluate((one) => {
      const { outlineStyle, outlineWidth } = getComputedStyle(one)
      return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0
    })
    if (!hasRing) ringless.push(stop)
  }
  return { stops, ringless }
}
