/** What the console shows of the demo company, one view after the other: for axe, for the width, and for the pictures in docs. */
import type { Page } from 'playwright-core'
import { goTo, signIn } from './browser.ts'
import type { Demo } from './demo.ts'

export interface View {
  /** Its pictures are docs/console/NAME-SCHEME-WIDTH.png. */
  name: string
  /** The entry of `pages.ts` that it shows: the page and the number of further parts. Absent for views without an entry. */
  entry?: readonly [page: string, parts: number]
  /** Comes from any other view, as the administrator. */
  open(page: Page, demo: Demo): Promise<void>
  /** Leaves everything as it was before, for the next view. */
  leave?(page: Page, demo: Demo): Promise<void>
}

export const SCHEMES = ['light', 'dark'] as const

/** Wide as on a desk, narrow as on a phone. Pages fit into the extreme widths too, of which there are no pictures. */
export const WIDTHS = {
  wide: { width: 1280, height: 800, extreme: 1920 },
  narrow: { width: 390, height: 844, extreme: 320 },
} as const

/** Goes to an address, and waits for a text there. */
const at = (hash: string, text: string) => async (page: Page) => {
  await goTo(page, hash)
  await page.locator('main').getByText(text).first().waitFor()
}

async function fillNewKey(page: Page): Promise<void> {
  await at('#/new-key', 'In a sentence')(page)
  await page.getByLabel('Name (optional)', { exact: true }).fill('shop-ci')
  await page.getByLabel('Display name (optional)').fill('CI of the shop')
  await page.getByLabel('Project', { exact: true }).fill('shop')
}

export const views: readonly View[] = [
  {
    name: 'sign-in',
    async open(page) {
      await page.getByLabel('Access key').waitFor()
      // The port is another one each time.
      await page.locator('h1 + p .foreign').evaluate((one) => {
        one.textContent = 'keys.company.example'
      })
    },
  },
  {
    name: 'keys',
    entry: ['keys', 0],
    async open(page, { server }) {
      await signIn(page, server.adminKey)
      await at('#/keys', 'deploy-production')(page)
    },
  },
  { name: 'overview', entry: ['overview', 0], open: at('#/overview', 'What happened last') },
  { name: 'key', entry: ['keys', 1], open: at('#/keys/deploy-production', 'Deployments of the shop') },
  { name: 'rotation', entry: ['keys', 1], open: at('#/keys/terraform', 'Nothing has used the new value yet.') },
  { name: 'new-key', entry: ['new-key', 0], open: fillNewKey },
  {
    name: 'shown-once',
    async open(page) {
      await page.getByRole('button', { name: 'Create the key' }).click()
      await page.getByRole('dialog').waitFor()
    },
    async leave(page, { server }) {
      await page.getByRole('button', { name: 'I have stored it' }).click()
      await page.getByRole('button', { name: 'Continue without the value' }).click()
      await server.call('/apis/management.platform/v1/ownedaccesskeys/shop-ci', { method: 'DELETE' })
    },
  },
  {
    name: 'whose',
    entry: ['whose', 0],
    async open(page, { keys }) {
      await at('#/whose', 'Value of the key')(page)
      await page.getByLabel('Value of the key').fill(keys['deploy-production'] ?? '')
      await page.getByRole('button', { name: 'Ask', exact: true }).click()
      await page.getByText('This is the value of a key').waitFor()
    },
  },
  { name: 'trusts', entry: ['trusts', 0], open: at('#/trusts', 'shop-deploy') },
  {
    name: 'new-trust',
    entry: ['new-trust', 0],
    async open(page) {
      await at('#/new-trust?platform=GitHub', 'Repository')(page)
      await page.getByLabel('Provider', { exact: true }).selectOption('github')
      await page.getByLabel('Repository id').fill('74')
      await page.getByLabel('Environment', { exact: true }).fill('production')
      await page.getByLabel('Name of the trust').fill('shop-release')
      await page.getByLabel('Project', { exact: true }).fill('shop')
    },
  },
  { name: 'trust', entry: ['trusts', 2], open: at('#/trusts/credentials/shop-deploy', 'octo-org/shop') },
  { name: 'provider', entry: ['trusts', 2], open: at('#/trusts/providers/github', 'GitHub Actions') },
  { name: 'virtual-clusters', entry: ['virtual-clusters', 0], open: at('#/virtual-clusters', 'analytics') },
  {
    name: 'virtual-cluster',
    entry: ['virtual-clusters', 2],
    open: at('#/virtual-clusters/p-shop/production', 'For daily use'),
  },
  { name: 'clusters', entry: ['clusters', 0], open: at('#/clusters', 'eu-production') },
  { name: 'cluster', entry: ['clusters', 1], open: at('#/clusters/eu-production', 'administrator without a scope') },
  {
    name: 'may-it',
    entry: ['may-it', 0],
    open: at('#/may-it?key=deploy-production&verb=list&resource=virtualclusterinstances&namespace=p-data', 'Refuses'),
  },
]
