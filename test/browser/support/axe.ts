/** Checks a page with axe-core. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

declare const axe: typeof import('axe-core')

/** The rules that read colours. */
export const COLOR_RULES = ['color-contrast', 'link-in-text-block']

/**
 * Returns what axe finds on the page as it is now: the rule, the element and what to do. The browser evaluates axe outside the
 * page's policy, which stays in force for the page. By default all rules are applied.
 */
export async function axeProblems(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(source)
  const { violations }: AxeResults = await page.evaluate(
    (values) =>
      axe.run(document, {
        resultTypes: ['violations'],
        preload: false,
        ...(values ? { runOnly: { type: 'rule', values } } : { rules: { 'target-size': { enabled: true } } }),
      }),
    rules && [...rules],
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ target, failureSummary = '' }) => `${id}: ${target.join(' ')}: ${failureSummary.replace(/\s+/g, ' ')}`,
    ),
  )
}
