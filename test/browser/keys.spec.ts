/** The page of the access keys, at a company with some: what it shows, finds, sorts and counts, and how it stays fresh. */
import https from 'node:https'
import type { Locator, Page } from 'playwright-core'
import { describe, expect, onTestFinished } from 'vitest'
import { request } from '../support/request.ts'
import { axeProblems, COLOR_RULES } from './support/axe.ts'
import { test as base, goTo, type PageOptions, signIn } from './support/browser.ts'
import { startDemo } from './support/demo.ts'
import { holdRequests } from './support/faults.ts'
import { HOSTILE, makeHostile } from './support/hostile.ts'
import { focused, hasFocus, press, tabTo } from './support/keyboard.ts'
import { deleteKey, makeKey } from './support/keys.ts'

const MINUTE = 60_000
const KEYS = '/apis/management.platform/v1/ownedaccesskeys'

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads what a fixture needs from its pattern.
  .extend('demo', { scope: 'file' }, async ({}, { onCleanup }) => {
    const demo = await startDemo()
    onCleanup(() => demo.server.stop())
    return demo
  })
  .extend('server', { scope: 'file' }, ({ demo }) => demo.server)
  /** Opens the page at the time of the company, which has got started, signed in as the administrator. */
  .extend('openKeys', ({ openPage, address, demo }) => async (options: PageOptions & { key?: string } = {}) => {
    const { path = '#/keys', key = demo.server.adminKey, ...others } = options
    const page = await openPage({ ...others, blank: true })
    await page.clock.install({ time: demo.now })
    await page.addInitScript(() => localStorage.setItem('keyplane-get-started /prod/console/', 'dismissed'))
    await page.goto(`${address}${path}`)
    await signIn(page, key)
    await page
      .getByRole('region', { name: 'Needs attention' })
      .or(page.getByRole('heading', { level: 2 }))
      .first()
      .waitFor()
    return page
  })

/** The links with the names of the keys, in order. */
const names = (page: Page): Promise<string[]> => page.locator('.row a').allInnerTexts()
const row = (page: Page, name: string): Locator =>
  page.locator('.row').filter({ has: page.getByRole('link', { name, exact: true }) })
const filter = (page: Page): Locator => page.getByRole('searchbox', { name: 'Filter the keys' })
const card = (page: Page, name: RegExp): Locator =>
  page.getByRole('region', { name: 'Needs attention' }).getByRole('button', { name })
const hashOf = (page: Page): Promise<string> => page.evaluate(() => location.hash)
/** How much wider than its window the page is. */
const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

describe('the page of the keys', () => {
  test('shows what each key may do, when and from where it was used, and its state', async ({ openKeys }) => {
    const page = await openKeys({ width: 1440 })
    const cells = async (name: string) => (await row(page, name).getByRole('cell').allInnerTexts()).slice(1)
    expect(await cells('deploy-production')).toEqual([
      expect.stringMatching(/^deploy-production\s+Deployments of the shop$/),
      'team shop',
      'project shop',
      '3 minutes ago',
      '7 months ago',
      'in 6 months',
      'Active',
    ])
    expect((await cells('grafana')).slice(2, 6)).toEqual([
      'role platformCLI',
      '40 minutes ago',
      '40 days ago',
      'in 14 days if not used',
    ])
    expect((await cells('legacy-import'))[2]).toBe('No scope')
    expect((await cells('terraform'))[6]).toMatch(/^Active\s+Rotation pending$/)
    expect((await cells('laptop-of-bob'))[6]).toBe('Disabled')
    expect((await cells('trial'))[6]).toBe('Expired')
    expect(await row(page, 'deploy-production').locator('time').first().getAttribute('title')).toMatch(
      /\d Z?\(2026|\(\d{4}-/,
    )

    expect(await row(page, 'laptop-of-bob').locator('time').first().getAttribute('title')).toMatch(
      /\n127\.0\.8\.1: kubectl\/v1\.34\.4 \(darwin/,
    )
    // One line each, and the first one where a person sees it at once.
    const heights = await page.locator('.row').evaluateAll((rows) => rows.map((one) => one.clientHeight))
    expect(heights.filter((one) => one < 44 || one > 48)).toEqual([])
    expect((await page.locator('.row').first().boundingBox())?.y).toBeLessThan(300)
  })

  test('counts what needs attention, and shows it alone on demand', async ({ openKeys }) => {
    const page = await openKeys()
    const counts = await page.getByRole('region', { name: 'Needs attention' }).getByRole('button').allInnerTexts()
    expect(counts.map((one) => one.replace(/\s+/g, ' '))).toEqual([
      '1 Rotation pending',
      '1 Expires within 14 days',
      '2 Unused for 90 days',
      '1 Never expires',
      '1 No scope',
    ])
    const all = await names(page)
    for (const colorScheme of ['light', 'dark', 'light'] as const) {
      // No colour lags behind.
      await page.emulateMedia({ colorScheme })
      expect(await axeProblems(page, COLOR_RULES)).toEqual([])
    }

    await card(page, /^1 Rotation pending$/).click()
    expect(await names(page)).toEqual(['terraform'])
    expect(await page.getByRole('status').first().innerText()).toBe(`1 of ${all.length} keys`)
    await page.getByText('The new value has not been used yet').waitFor()
    await card(page, /^2 Unused for 90 days$/).click()
    expect(await names(page)).toEqual(['legacy-import', 'report-builder'])
    expect(await hashOf(page)).toBe('#/keys?filter=needs%3Aunused')
    expect(await card(page, /^2 Unused/).getAttribute('aria-pressed')).toBe('true')
    expect(await card(page, /^1 Rotation/).getAttribute('aria-pressed')).toBe('false')

    await page.goBack()
    await expect.poll(() => names(page)).toEqual(['terraform'])
    await page.goBack()
    await expect.poll(() => names(page)).toEqual(all)
    await page.goForward()
    await card(page, /^1 Rotation pending$/).click()
    await expect.poll(() => names(page)).toEqual(all)
    expect(await hashOf(page)).toBe('#/keys')
  })

  test('finds keys by words, and says the same to a colleague with the address', async ({ openKeys }) => {
    const page = await openKeys()
    const all = await names(page)
    await filter(page).fill('team:platform')
    expect(await names(page)).toEqual(['grafana', 'terraform'])

    await page.getByRole('link', { name: 'terraform', exact: true }).click()
    await expect.poll(() => hashOf(page)).toBe('#/keys/terraform')
    await page.goBack()
    await expect.poll(() => names(page)).toEqual(['grafana', 'terraform'])
    expect(await filter(page).inputValue()).toBe('team:platform')
    const colleague = await openKeys({ path: await hashOf(page) })
    expect(await names(colleague)).toEqual(['grafana', 'terraform'])

    await page.getByRole('combobox', { name: 'Owner' }).selectOption('alice')
    expect(await filter(page).inputValue()).toBe('team:platform owner:alice')
    await page.getByRole('heading', { name: 'No key matches' }).waitFor()
    await filter(page).fill('reaches:eu-production')
    await page.getByText('These active keys may get a token for').waitFor()
    expect(await names(page)).toEqual([expect.stringMatching(/^admin-/), 'legacy-import', 'terraform'])
    await filter(page).fill('onwer:alice')
    await page.getByText('There is no onwer:. Known are state:, owner:,').waitFor()

    await page.getByRole('navigation').getByRole('link', { name: 'Keys' }).click()
    await expect.poll(() => names(page)).toEqual(all)
    expect(await filter(page).inputValue()).toBe('')
  })

  test('keeps what a person types as soon as the list is there', async ({ openPage, address, demo }) => {
    const page = await openPage({ blank: true })
    await page.addInitScript(() => {
      const observer = new MutationObserver(() => {
        const field = document.querySelector<HTMLInputElement>('input[type=search]')
        if (!field) return
        observer.disconnect()
        field.value = 'terraform'
        field.dispatchEvent(new Event('input', { bubbles: true }))
      })
      observer.observe(document, { childList: true, subtree: true })
    })
    await page.goto(`${address}#/keys`)
    await signIn(page, demo.server.adminKey)
    await expect.poll(() => hashOf(page)).toBe('#/keys?filter=terraform')
    await expect.poll(() => hasFocus(page.getByRole('heading', { level: 1 }))).toBe(true)
    await expect.poll(() => names(page)).toEqual(['terraform'])
    expect(await filter(page).inputValue()).toBe('terraform')
  })

  test('says what to do when nothing matches', async ({ openKeys }) => {
    const page = await openKeys({ path: '#/keys?filter=nobody-has-this+needs:unused' })
    await page.getByRole('heading', { name: 'No key matches' }).waitFor()
    await page.getByRole('button', { name: 'Show all keys' }).click()
    expect((await names(page)).length).toBeGreaterThan(8)
    expect(await hashOf(page)).toBe('#/keys')
  })

  test('is used with the keyboard alone: filter, attention, order, the way to a key', async ({ openKeys }) => {
    const page = await openKeys()
    const reach = async () => {
      await page.keyboard.press('/')
      return hasFocus(filter(page))
    }
    await expect.poll(reach).toBe(true)
    await page.keyboard.type('a/b')
    expect(await filter(page).inputValue()).toBe('a/b')
    await page.keyboard.press('Escape')
    expect(await filter(page).inputValue()).toBe('')
    await tabTo(card(page, /^1 Never expires$/))
    await page.keyboard.press('Space')
    expect(await names(page)).toEqual(['legacy-import'])
    await page.keyboard.press('Space')

    const header = (name: string) => page.getByRole('columnheader', { name, exact: true })
    expect(await header('Name').getAttribute('aria-sort')).toBe('ascending')
    await press(header('Last used').getByRole('button'))
    expect(await header('Last used').getAttribute('aria-sort')).toBe('descending')
    expect(await header('Name').getAttribute('aria-sort')).toBe(null)
    expect((await names(page)).slice(1, 4)).toEqual(['deploy-production', 'terraform', 'grafana'])
    await page.keyboard.press('Enter')
    expect(await header('Last used').getAttribute('aria-sort')).toBe('ascending')
    expect(await hashOf(page)).toBe('#/keys?sort=used')
    expect((await names(page)).slice(0, 2)).toEqual(['ci-preview', 'trial'])

    await press(page.getByRole('link', { name: 'trial', exact: true }))
    await expect.poll(() => hashOf(page)).toBe('#/keys/trial')
  })

  test('moves the focus to the next key when somebody else deletes the one that has it', async ({
    openKeys,
    server,
  }) => {
    const [one, other] = [await makeKey(server, 'gone'), await makeKey(server, 'gone')].map(({ name }) => name).sort()
    const page = await openKeys({ path: '#/keys?filter=gone' })
    await tabTo(page.getByRole('link', { name: one ?? '', exact: true }))
    await deleteKey(server, one ?? '')
    await page.clock.fastForward(MINUTE)
    await expect.poll(() => names(page)).toEqual([other])
    await expect.poll(() => focused(page)).toBe(`link "${other}"`)
    await deleteKey(server, other ?? '')
    await page.clock.fastForward(MINUTE)
    await page.getByRole('heading', { name: 'No key matches' }).waitFor()
  })

  test('marks the key of a command, and ends it with one click', async ({ openKeys, server }) => {
    const made = await makeKey(server, 'run-alice', { ttl: 600 }, { 'keyplane/session': 'run' })
    const page = await openKeys({ path: '#/keys?filter=run-alice' })
    expect(await row(page, made.name).innerText()).toContain('One command')
    await row(page, made.name)
      .getByRole('button', { name: `End ${made.name}` })
      .click()
    await row(page, made.name).getByText('ended', { exact: true }).waitFor()
    expect((await server.call(`${KEYS}/${made.name}`)).status).toBe(404)
    expect(await hashOf(page)).toBe('#/keys?filter=run-alice')
    await page.clock.fastForward(MINUTE)
    await expect.poll(() => names(page)).toEqual([])
  })

  test('revokes the keys that are selected, and no others, after a dry run', async ({ openKeys, server }) => {
    const made = [await makeKey(server, 'bulk'), await makeKey(server, 'bulk'), await makeKey(server, 'bulk')]
    const [first = '', second = '', third = ''] = made.map(({ name }) => name).sort()
    onTestFinished(async () => {
      for (const name of [first, third]) await deleteKey(server, name)
    })
    const disabled = async (name: string) => (await server.call(`${KEYS}/${name}`)).json.spec?.disabled === true
    const page = await openKeys({ path: '#/keys?filter=bulk' })
    const bar = page.getByRole('region', { name: 'Selected keys' })
    const box = (name: string) => page.getByRole('checkbox', { name: `Select ${name}`, exact: true })
    const dialog = page.getByRole('dialog')
    await press(page.getByRole('checkbox', { name: 'Select all 3 shown' }), 'Space')
    await bar.getByText('3 keys selected').waitFor()
    await press(box(third), 'Space')
    await bar.getByText('2 keys selected').waitFor()
    expect(await axeProblems(page)).toEqual([])
    // A key that is not shown is not selected.
    await filter(page).fill(`bulk ${first}`)
    await bar.getByText('1 key selected').waitFor()
    await press(bar.getByRole('button', { name: 'Disable or delete' }))
    await dialog.getByText('This key matches.').waitFor()
    expect(await disabled(first)).toBe(false)
    await press(dialog.getByRole('button', { name: 'Disable 1 key' }))
    await dialog.getByText('Disabled 1 of 1 key.').waitFor()
    await press(dialog.getByRole('button', { name: 'Close' }))
    await expect.poll(() => bar.count()).toBe(0)
    expect([await disabled(first), await disabled(second), await disabled(third)]).toEqual([true, false, false])

    await filter(page).fill(second)
    await bar.getByText('1 key selected').waitFor()
    await press(bar.getByRole('button', { name: 'Disable or delete' }))
    await dialog.getByText('This key matches.').waitFor()
    const release = await holdRequests(page, 'accesskeyrevocations')
    await dialog.getByRole('radio', { name: /Delete/ }).check()
    // What the last dry run found stays until the next one has ended, and with it the focus.
    const found = dialog.getByRole('region', { name: 'What matches' })
    await tabTo(found)
    const button = dialog.getByRole('button', { name: 'Delete 1 key' })
    expect(await button.isDisabled()).toBe(true)
    release()
    await expect.poll(() => button.isEnabled()).toBe(true)
    expect(await hasFocus(found)).toBe(true)
    await press(button)
    await dialog.getByText('Deleted 1 of 1 key.').waitFor()
    await press(dialog.getByRole('button', { name: 'Close' }))
    await page.getByRole('heading', { name: 'No key matches' }).waitFor()
  })

  test('shows keys of exchanges on demand only', async ({ openPage, server }) => {
    const page = await openPage({ path: '#/keys' })
    const ownerReferences = [{ kind: 'FederatedIdentityCredential', name: 'build', uid: 'u', controller: true }]
    const soon = new Date(Date.now() + 600_000).toISOString()
    await serveKeys(page, 2, { metadata: { ownerReferences }, status: { expirationTimestamp: soon } })
    await signIn(page, server.adminKey)
    await expect.poll(() => names(page)).toEqual(['key-1'])
    await page.getByRole('button', { name: '1 of an exchange' }).click()
    expect(await names(page)).toEqual(['key-2'])
    expect(await hashOf(page)).toBe('#/keys?filter=trust%3A*')
    await goTo(page, '#/keys?filter=key-2')
    await page.getByRole('button', { name: 'Show the key of an exchange that matches' }).click()
    expect(await names(page)).toEqual(['key-2'])
  })
})

describe('texts of others', () => {
  // threat: list-1
  test('are shown as texts, whatever they are, and fit every window', async ({ openKeys, server, demo }) => {
    const hostile = await makeHostile(server)
    onTestFinished(async () => {
      for (const name of hostile) await deleteKey(server, name)
    })
    const agent = new https.Agent({ ca: server.certificateAuthority, localAddress: '127.0.3.3' })
    const call = {
      method: 'POST',
      body: {},
      token: demo.keys['ci-preview'] ?? '',
      headers: { 'user-agent': HOSTILE.markup },
    }
    const { status } = await request(agent, `${server.url}/apis/management.platform/v1/selves`, call)
    expect(status).toBe(201)
    agent.destroy()

    for (const width of [1280, 390]) {
      const page = await openKeys({ width, height: 2400 })
      await expect.poll(() => names(page)).toEqual(expect.arrayContaining(hostile))
      // A phone has no room for what people call a key.
      if (width > 720) await page.getByText('gnp.\\u{202e}exe.').first().waitFor()
      const used = row(page, 'ci-preview').locator('time').first()
      expect(await used.getAttribute('title')).toContain(`127.0.3.3: ${HOSTILE.markup.slice(0, 20)}`)
      expect(await overflow(page)).toBe(0)
      expect(await page.locator('main img').count()).toBe(0)
      expect(await page.title()).toBe('Keys · keyplane')
      expect(await axeProblems(page)).toEqual([])
      await filter(page).fill('constructor')
      expect(await names(page)).toEqual(['constructor'])
    }
  })
})

describe('on a phone', () => {
  test.for(['light', 'dark'] as const)(
    'keys have two lines in an order of one’s choice, in the %s scheme',
    async (colorScheme, { openKeys }) => {
      const page = await openKeys({ width: 390, colorScheme })
      expect(await page.getByRole('columnheader').count()).toBe(0)
      await page.getByRole('combobox', { name: 'Order' }).selectOption('Expires, soonest first')
      expect((await names(page)).slice(0, 3)).toEqual(['trial', 'backup-nightly', 'grafana'])
      expect(await hashOf(page)).toBe('#/keys?sort=expires')
      expect(await row(page, 'terraform').innerText()).toMatch(
        /terraform[\s\S]*team platform[\s\S]*in 2 months[\s\S]*Rotation pending/,
      )
      expect((await row(page, 'terraform').boundingBox())?.height).toBeLessThan(72)
      expect((await page.getByRole('banner').boundingBox())?.height).toBeLessThan(60)
      expect(await overflow(page)).toBe(0)
      expect(await axeProblems(page)).toEqual([])
    },
  )
})

describe('without the right to list', () => {
  test('says so, and the header leads to the key of the session', async ({ openKeys, server }) => {
    const { name, value } = await makeKey(server, 'narrow', { scope: { projects: [{ project: 'shop' }] } })
    const page = await openKeys({ key: value })
    await page.getByRole('heading', { name: 'Your access key may not list keys' }).waitFor()
    expect(await page.getByTitle('The key that you use').getAttribute('href')).toBe(`#/keys/${name}`)
    expect(await axeProblems(page)).toEqual([])
    await deleteKey(server, name)
  })
})

/** Answers as a server with so many keys, in pages. The last one has these facts. The server itself answers what it is asked to find. */
async function serveKeys(page: Page, count: number, last: { metadata?: object; status?: object } = {}): Promise<void> {
  const items = Array.from({ length: count }, (_, index) => {
    const { metadata, status } = index === count - 1 ? last : {}
    const [name, uid] = [`key-${index + 1}`, `uid-${index + 1}`]
    return {
      metadata: { name, uid, creationTimestamp: new Date(Date.now() - 3_600_000).toISOString(), ...metadata },
      spec: { scope: {} },
      status: { phase: 'Active', owner: 'alice', expirationTimestamp: '2099-01-01T00:00:00Z', ...status },
    }
  })
  await page.route(/\/ownedaccesskeys\?/, (route) => {
    const query = new URL(route.request().url()).searchParams
    if (query.has('namePrefix') || query.has('fieldSelector')) return route.fallback()
    const from = Number(query.get('continue') ?? 0)
    const to = from + Number(query.get('limit'))
    const metadata = to < count ? { continue: String(to) } : {}
    return route.fulfill({ json: { metadata, items: items.slice(from, to) } })
  })
}

describe('a server', () => {
  test('without keys: the page says what a key is and how to make one', async ({ openPage, server }) => {
    const page = await openPage({ path: '#/keys' })
    await serveKeys(page, 0)
    await signIn(page, server.adminKey)
    await page.getByRole('heading', { name: 'There are no keys yet' }).waitFor()
    expect(await page.getByRole('main').getByRole('link', { name: 'New key' }).last().getAttribute('href')).toBe(
      '#/new-key',
    )
    expect(await axeProblems(page)).toEqual([])
  })

  test('with a thousand keys: those in sight are drawn, all are found, and the list is read less often', async ({
    openPage,
    visits,
    address,
    server,
  }) => {
    const page = await openPage({ blank: true })
    await page.clock.install()
    await serveKeys(page, 1000)
    await page.goto(`${address}#/keys`)
    await signIn(page, server.adminKey)
    await page.getByText('1000 keys', { exact: true }).waitFor()
    // Those in sight, and those that the next turn of a wheel shows.
    await expect.poll(async () => (await names(page)).length).toBeGreaterThan(16)
    expect((await names(page)).length).toBeLessThan(100)
    expect(await axeProblems(page)).toEqual([])
    // As on a phone, where a text may need a line more. The page measures it when it is scrolled.
    await row(page, 'key-1').evaluate((one) => {
      ;(one as HTMLElement).style.height = '96px'
    })
    await page.mouse.wheel(0, 1_000_000)
    await page.getByRole('link', { name: 'key-1000', exact: true }).waitFor()
    expect((await names(page)).length).toBeLessThan(100)
    // What is not drawn has the height of its rows, and no more.
    const heightOf = (part: string) =>
      page
        .locator(part)
        .first()
        .evaluate((one) => (one as HTMLElement).offsetHeight)
    expect(await heightOf('tbody')).toBe(999 * (await heightOf('.row')) + 96)
    await page.mouse.wheel(0, -1_000_000)
    await page.getByRole('link', { name: 'key-1', exact: true }).focus()
    await page.mouse.wheel(0, 1_000_000)
    await page.getByRole('link', { name: 'key-1000', exact: true }).waitFor()
    for (const _ of ['checkbox', 'link']) await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('link "key-2"')
    await page.getByRole('link', { name: 'key-10', exact: true }).focus()
    for (let row = 10; row < 40; row++) for (const _ of ['checkbox', 'link']) await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('link "key-40"')
    expect(await page.locator('.row:focus-within').getAttribute('aria-rowindex')).toBe('41')
    await filter(page).fill('key-99')
    await expect
      .poll(() => names(page))
      .toEqual(['key-99', ...Array.from({ length: 10 }, (_, index) => `key-99${index}`)])

    const lists = () => visits.guardsOf(page).requests.filter((one) => /\/ownedaccesskeys\?/.test(one.url())).length
    const clock = () => page.evaluate(() => Date.now())
    const passUntilListed = async (count: number) => {
      while (lists() < count) await page.clock.runFor(1000)
    }
    // From here on only the test moves the clock, and learns a few steps later of requests. Each list is read in two pages.
    await page.clock.pauseAt((await clock()) + 1000)
    const before = lists()
    await passUntilListed(before + 2)
    const start = await clock()
    await passUntilListed(before + 4)
    expect((await clock()) - start).toBeGreaterThan(1.5 * MINUTE)
  })

  test('with more keys than a page can show: says how many these are, and that its numbers are not those of all', async ({
    openPage,
    server,
  }) => {
    const page = await openPage({ path: '#/keys' })
    await serveKeys(page, 3000)
    await signIn(page, server.adminKey)
    await page.getByText('These are the first 2500 of more keys.').waitFor()
    await filter(page).fill('key-2500')
    await expect.poll(() => names(page)).toEqual(['key-2500'])
    // What follows is found by the server.
    const { name } = await makeKey(server, 'unread', { user: 'somebody, else' })
    await filter(page).fill('unread-')
    await page.getByRole('link', { name, exact: true }).waitFor()
    await page.getByText('Searched all names that begin with unread-, and').waitFor()
    await filter(page).fill('owner:"somebody, else"')
    await page.getByText('Searched all keys of somebody, else, and').waitFor()
    expect(await names(page)).toEqual([name])
    await filter(page).fill('key-2501')
    await page.getByRole('heading', { name: 'No key matches', exact: true }).waitFor()
    expect(await axeProblems(page)).toEqual([])
    await deleteKey(server, name)
    await filter(page).fill('of others')
    await page.getByText('Searched the first 2500 of more keys.').waitFor()
    await page.getByRole('heading', { name: 'No key matches so far' }).waitFor()
    await goTo(page, '#/overview')
    await page.getByText('These are the first 2500 of more keys.').waitFor()
    expect(await axeProblems(page)).toEqual([])
  })
})

test('the cells of a row have the same edges, and their texts begin below that of the head, which stays in sight', async ({
  openKeys,
}) => {
  const page = await openKeys({ width: 1440, height: 340 })
  const edges = await page.locator('tbody .row').evaluateAll((rows) =>
    rows.map((one) => {
      const cells = [...one.children].map((cell) => cell.getBoundingClientRect())
      return [new Set(cells.map(({ top }) => top)).size, new Set(cells.map(({ bottom }) => bottom)).size]
    }),
  )
  expect(edges.length).toBeGreaterThan(5)
  expect(edges.filter(([top, bottom]) => top !== 1 || bottom !== 1)).toEqual([])
  const starts = await page.locator('.keys table').evaluate((table: HTMLTableElement) =>
    [...(table.tHead?.rows[0]?.cells ?? [])].map((head, column) => {
      const text = head.querySelector('button')?.firstChild
      // The boxes have no title that is shown.
      if (!text) return 1
      const title = document.createRange()
      title.selectNodeContents(text)
      const lines = [...(table.tBodies[0]?.rows ?? [])].flatMap(({ cells }) => {
        const parts = [...(cells[column]?.children ?? [])].map((one) => one.getBoundingClientRect())
        return parts.filter((one) => !parts.some(({ right, bottom }) => right <= one.left && bottom > one.top))
      })
      return [...new Set([title.getBoundingClientRect(), ...lines].map(({ left }) => Math.round(left)))].length
    }),
  )
  expect(starts).toEqual(starts.map(() => 1))
  await page.mouse.wheel(0, 400)
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(400)
  const head = page.getByRole('columnheader').first()
  expect((await head.boundingBox())?.y).toBe(0)
  // A line of its own: the borders of the rows move on.
  expect(await head.evaluate((one) => getComputedStyle(one).boxShadow)).toMatch(/inset/)
  // Below it and just under it, controls have room.
  const box = page.locator('.row input').nth(4)
  for (const y of [40, 8]) {
    await box.evaluate((one, top) => scrollBy(0, one.getBoundingClientRect().top - top), y)
    expect(await axeProblems(page, ['target-size'])).toEqual([])
  }
  // What gets the focus is not below it.
  await tabTo(page.locator('.row a').nth(6))
  await tabTo(page.locator('.row a').nth(2), 'Shift+Tab')
  const covered = await Promise.all([head, page.locator(':focus')].map((one) => one.boundingBox()))
  expect(covered[1]?.y).toBeGreaterThanOrEqual((covered[0]?.y ?? 0) + (covered[0]?.height ?? 0))
})
