/** Finds what does not fit into the window. */
import type { Page } from 'playwright-core'

/**
 * Returns what a person sees only in part: elements beyond the window if the page can be scrolled sideways, and links and controls that are
 * cut, or narrower than their text. Tables, code and bars of filters that scroll in their own box may be wider.
 */
export const misfits = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    const nameOf = ({ tagName, className, textContent }: Element) =>
      `${tagName}.${className} ${textContent}`.slice(0, 80)
    const isBeyond = (one: Element) => {
      const { left, right } = one.getBoundingClientRect()
      return right > clientWidth + 0.5 || left < -0.5
    }
    const wide = scrollWidth > clientWidth ? [...document.querySelectorAll('body *')].filter(isBeyond) : []
    const scrolls = (box: Element | null) => box !== null && getComputedStyle(box).overflowX === 'auto'
    const controls = [...document.querySelectorAll('a, button, input, select, textarea, summary')].filter(
      (one) =>
        one.checkVisibility() &&
        !one.matches('.skip') &&
        !scrolls(one.closest('.code section, .keys.box, .chips, .facts section')),
    )
    const isOverflowing = (one: Element) =>
      one.matches('nav a, a.button, button, summary') && one.scrollWidth > one.clientWidth + 1
    return [
      ...wide.map((one) => `wider than the window: ${nameOf(one)}`),
      ...controls.filter(isBeyond).map((one) => `cut: ${nameOf(one)}`),
      ...controls.filter(isOverflowing).map((one) => `narrower than its text: ${nameOf(one)}`),
    ]
  })
