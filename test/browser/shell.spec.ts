/** What all pages share: addresses, titles, the keyboard, small screens, slow lines, and what goes over the network. */
import { expect } from 'vitest'
import { encodeKey } from '../../lib/engine/meta/value/credentialformat.ts'
import { axeProblems } from './support/axe.ts'
import { goTo, loaded, signIn, test } from './support/browser.ts'
import { failRequests, statusOf } from './support/faults.ts'
import { misfits } from './support/fits.ts'
import { makeHostile } from './support/hostile.ts'
import { focused, hasFocus, press, tabStops, tabTo } from './support/keyboard.ts'
import { makeKey } from './support/keys.ts'

// The first test: the others fill the server.
test('shows what to do with a new deployment, until somebody dismisses it', async ({
  page,
  visits,
  address,
  server,
}) => {
  await page.getByText(`to ${new URL(address).host}/prod`).waitFor()
  await press(page.getByText('Where do I get a key?'))
  await page.getByText('npm run bootstrap').waitFor()
  await signIn(page, server.adminKey)
  const panel = page.getByRole('region', { name: /^Get started: / })
  await panel.getByText('Get started: 0 of 5 done').waitFor()
  // What the local server made for itself needs nobody's attention either.
  await page.getByText('No key that you may see needs attention.').waitFor()
  expect([await axeProblems(page), await misfits(page)]).toEqual([[], []])
  for (const [step, title] of [
    ['A key for a job', 'New key'],
    ['CI without a secret', 'New trust'],
    ['A cluster', 'Virtual clusters'],
  ] as const) {
    const link = panel.getByRole('link', { name: title, exact: true }).first()
    if (!(await link.isVisible())) await panel.getByText(step, { exact: true }).click()
    await link.click()
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
    await page.goBack()
  }
  const { name } = await makeKey(server, 'shop-ci', { scope: { projects: [{ project: 'shop' }] } })
  await goTo(page, '#/keys')
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.getByText(name).first().waitFor()
  await goTo(page, '#/overview')
  await panel.getByText('Get started: 1 of 5 done').waitFor()

  await press(panel.getByRole('button', { name: 'Dismiss' }))
  await page.getByText('Get started is in the help menu from now on.').waitFor()
  expect(await panel.count()).toBe(0)
  await expect.poll(() => focused(page)).toMatch(/^heading "Overview"/)
  const { requests } = visits.guardsOf(page)
  const before = requests.length
  await page.reload()
  await signIn(page, server.adminKey)
  await page.getByText(name).first().waitFor()
  await loaded(page)
  expect(await panel.count()).toBe(0)
  const asked = requests.slice(before).map((one) => one.url())
  expect(asked.filter((url) => /getstarted|federatedidentitycredentials|virtualclusterinstances/.test(url))).toEqual([])

  await page.getByRole('button', { name: 'Help' }).click()
  await page.getByRole('dialog').getByRole('link', { name: 'Get started' }).click()
  await panel.getByText('Get started: 1 of 5 done').waitFor()
})

test('goes back and forward, with the title and the heading of each page', async ({ openPage, server }) => {
  const page = await openPage({ path: '#/nowhere' })
  await signIn(page, server.adminKey)
  const links = await page.getByRole('navigation').getByRole('link').all()
  expect(links.length).toBeGreaterThan(0)
  const seen: string[] = []
  for (const link of links) {
    await link.click()
    await expect.poll(() => link.getAttribute('aria-current')).toBe('page')
    const heading = page.getByRole('heading', { level: 1 })
    const title = `${await heading.innerText()} · keyplane`
    await expect.poll(() => page.title()).toBe(title)
    await expect.poll(() => hasFocus(heading)).toBe(true)
    seen.push(await page.title())
  }
  expect(new Set(seen).size).toBe(links.length)
  for (const title of seen.toReversed().slice(1)) {
    await page.goBack()
    await expect.poll(() => page.title()).toBe(title)
  }
  for (const title of seen.slice(1)) {
    await page.goForward()
    await expect.poll(() => page.title()).toBe(title)
  }
})

test('shows a page with a heading and a way out for every address', async ({ page, server }) => {
  await signIn(page, server.adminKey)
  const heading = page.getByRole('heading', { level: 1 })
  for (const address of [
    '#/nowhere',
    '#/keys/a/b/c/d',
    '#/%E0%A4%A',
    '#/__proto__',
    '#/constructor',
    '#//////',
    '#/keys/%2e%2e%2f',
    '#/keys/..%2f..%2fapis',
    '#/<img src=x onerror=alert(1)>',
    '#main',
  ]) {
    await goTo(page, address)
    await heading.waitFor()
    expect([address, await page.locator('main').innerText()]).not.toEqual([
      address,
      expect.stringMatching(/console failed|undefined/),
    ])
    await page.getByRole('navigation').getByRole('link', { name: 'Keys' }).click()
    await expect.poll(() => heading.innerText()).toBe('Keys')
  }
})

test('keeps the session when a page fails', async ({ page, server }) => {
  await signIn(page, server.adminKey)
  await loaded(page)
  const recover = await failRequests(page, 'ownedaccesskeys', {
    status: 200,
    body: { metadata: {}, items: [{ metadata: { name: 'a\u202eb' } }] },
  })
  await goTo(page, '#/keys')
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.getByText('The console failed.').waitFor()
  const pages = page.getByRole('navigation')
  await pages.getByRole('link', { name: 'Trusts' }).click()
  await page.getByRole('heading', { level: 1, name: 'Trusts' }).waitFor()
  await recover()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
})

test('says when the script of a page does not come, and loads it when asked again', async ({
  page,
  guards,
  server,
}) => {
  guards.allowMessage(/Failed to load resource/)
  await page.route('**/console/trustroute-*.js', (route) => route.abort())
  await signIn(page, server.adminKey)
  await page.getByRole('navigation').getByRole('link', { name: 'Trusts' }).click()
  await page.getByText('This page could not be loaded.').waitFor()
  await page.unroute('**/console/trustroute-*.js')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'Identity providers' }).waitFor()
})

test('asks the API for nothing by the names of folders', async ({ openPage, visits, server }) => {
  const page = await openPage({ path: '#/trusts/..' })
  await signIn(page, server.adminKey)
  await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor()
  expect(visits.guardsOf(page).requests.filter((request) => /\/v1\/?$/.test(request.url()))).toEqual([])
})

test('has no key in its address that somebody looks for', async ({ page, guards, server }) => {
  await signIn(page, server.adminKey)
  await goTo(page, '#/keys')
  await page.getByRole('searchbox').waitFor()
  await loaded(page)
  await page.getByRole('searchbox').fill(`mpk_${'a'.repeat(49)}`)
  await page.getByRole('heading', { name: 'No key matches' }).waitFor()
  await page.getByRole('searchbox').press('Tab')
  expect(page.url()).not.toContain('mpk_')
  await page.getByRole('searchbox').fill('')
  expect(await guards.finish()).toEqual([])
})

test('is complete with the keyboard: sign in, skip, every page, sign out', async ({ page, server }) => {
  await expect.poll(() => hasFocus(page.getByLabel('Access key'))).toBe(true)
  await page.keyboard.type(server.adminKey)
  await press(page.getByRole('button', { name: 'Sign in', exact: true }))
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()

  const { stops, ringless } = await tabStops(page)
  expect(stops[0]).toBe('button "Skip to the content"')
  expect(ringless).toEqual([])
  const names = await page.getByRole('navigation').getByRole('link').allInnerTexts()
  expect(stops).toEqual(expect.arrayContaining([...names.map((name) => `link "${name}"`), 'button "Sign out"']))

  for (const name of names.slice(1)) {
    await press(page.getByRole('navigation').getByRole('link', { name, exact: true }))
    await expect.poll(() => focused(page)).toMatch(/^heading /)
    await loaded(page)
    const visited = await tabStops(page)
    expect([name, visited.ringless]).toEqual([name, []])
  }
  await press(page.getByRole('button', { name: 'Skip to the content' }))
  await expect.poll(() => hasFocus(page.getByRole('main'))).toBe(true)
  await tabTo(page.getByRole('button', { name: 'Sign out' }), 'Shift+Tab')
  await page.keyboard.press('Enter')
  await expect.poll(() => hasFocus(page.getByLabel('Access key'))).toBe(true)
})

test('moves nothing for people who asked for less motion', async ({ openPage, server }) => {
  const page = await openPage({ reducedMotion: 'reduce' })
  await signIn(page, server.adminKey)
  const moving = await page.evaluate(() =>
    [...document.querySelectorAll('*')]
      .filter((one) => {
        const { transitionDuration, animationName, animationDuration } = getComputedStyle(one)
        const isAnimated = animationName !== 'none' && Number.parseFloat(animationDuration) > 0.01
        return isAnimated || transitionDuration.split(',').some((time) => Number.parseFloat(time) > 0.01)
      })
      .map(({ tagName, className }) => `${tagName}.${className}`),
  )
  expect(moving).toEqual([])
})

test('fits into 320 pixels, also with hostile names, and does what none of them says', async ({ openPage, server }) => {
  await makeHostile(server)
  const page = await openPage({ width: 320, height: 640 })
  await signIn(page, server.adminKey)
  const links = await page.getByRole('navigation').getByRole('link').all()
  for (const link of links) {
    await link.click()
    await expect.poll(() => link.getAttribute('aria-current')).toBe('page')
    await loaded(page)
    const title = await page.title()
    expect([title, await misfits(page)]).toEqual([title, []])
    expect(title).toMatch(/^[A-Z][\w ?]+ · keyplane$/)
    expect(await page.locator('img, script:not([src]), iframe, object, embed').count()).toBe(0)
  }
  for (const [hash, text] of [
    ['#/new-key', 'In a sentence'],
    ['#/new-trust?platform=GitHub', 'Repository'],
    ['#/keys/hostile-long', 'Make a new value'],
  ] as const) {
    await goTo(page, hash)
    if (hash.startsWith('#/keys/')) await page.getByRole('button', { name: 'Rotate' }).click()
    await page.getByRole('main').getByText(text).first().waitFor()
    await loaded(page)
    for (const summary of await page.locator('main summary').all()) await summary.click()
    expect([hash, await misfits(page)]).toEqual([hash, []])
  }
  for (const name of ['Edit', 'Edit scope', 'Disable', 'Delete']) {
    if (name !== 'Edit') await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('button', { name, exact: true }).click()
    await page.getByRole('dialog').waitFor()
    expect([name, await misfits(page)]).toEqual([name, []])
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
  }
})

test('needs few requests and few bytes on a slow line', async ({ openPage, visits, address, server }) => {
  const page = await openPage({ blank: true })
  const line = await page.context().newCDPSession(page)
  await line.send('Network.enable')
  // 400 kbit/s with 400 ms to the server and back, as on a bad mobile line.
  const slow = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 }
  await line.send('Network.emulateNetworkConditions', slow)
  let bytes = 0
  line.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  await page.goto(address)
  await page.getByLabel('Access key').waitFor()
  const { requests } = visits.guardsOf(page)
  // The page, its styles and its icon, the script, what all pages share, and the page of the keys.
  expect(requests.length).toBeLessThanOrEqual(6)
  // What this line carries in a second.
  expect(bytes).toBeLessThan(50_000)
  await signIn(page, server.adminKey)
  await page.getByRole('heading', { name: 'What happened last' }).waitFor()
  // What a new deployment has not done yet comes after that, and no more if it was dismissed: a script and two requests.
  expect(requests.length).toBeLessThanOrEqual(11)
})

// threat: session-1
test('talks to its own server alone, and shows no key', async ({ page, guards, address, server }) => {
  await signIn(page, server.adminKey)
  for (const link of await page.getByRole('navigation').getByRole('link').all()) {
    await link.click()
    await expect.poll(() => link.getAttribute('aria-current')).toBe('page')
    await loaded(page)
  }
  const { origin } = new URL(address)
  const paths = guards.requests.map((request) => request.url())
  expect(paths.filter((url) => !url.startsWith(`${origin}/prod/`) && !url.startsWith('data:'))).toEqual([])
  expect(paths.length).toBeGreaterThan(5)
  expect(await guards.finish()).toEqual([])
})

test('has a help with every shortcut, which opens with one', async ({ openPage, server }) => {
  const page = await openPage({ path: '#/keys' })
  await signIn(page, server.adminKey)
  await loaded(page)
  const filter = page.getByRole('searchbox')
  await page.keyboard.press('/')
  await expect.poll(() => hasFocus(filter)).toBe(true)
  await page.keyboard.type('/?')
  expect([await filter.inputValue(), await page.getByRole('dialog').count()]).toEqual(['/?', 0])
  await filter.fill('')

  const button = page.getByRole('button', { name: 'Help' })
  const dialog = page.getByRole('dialog')
  await tabTo(button, 'Shift+Tab')
  await page.keyboard.press('?')
  await dialog.getByRole('heading', { name: 'Help' }).waitFor()
  await dialog.getByText(/^keyplane \d+\.\d+\.\d+$/).waitFor()
  expect([await axeProblems(page), await misfits(page)]).toEqual([[], []])
  await page.keyboard.press('?')
  for (const [name, text] of [
    ['Documentation', 'The day of a leak'],
    ['Keyboard shortcuts', 'Ctrl-K or Cmd-K'],
  ] as const) {
    await press(dialog.getByText(name, { exact: true }))
    await dialog.getByText(text).waitFor()
    expect([await axeProblems(page), await misfits(page)]).toEqual([[], []])
    await page.keyboard.press('Escape')
    await expect.poll(() => dialog.count()).toBe(0)
    await expect.poll(() => hasFocus(button)).toBe(true)
    await page.keyboard.press('Enter')
    await dialog.getByRole('heading', { name: 'Help' }).waitFor()
  }
})

test('leads to keys, pages and actions from a palette, which keeps no value of a key', async ({
  openPage,
  visits,
  server,
}) => {
  const page = await openPage({ path: '#/trusts' })
  await signIn(page, server.adminKey)
  await loaded(page)
  const field = page.getByRole('combobox', { name: 'Name of a key, trust, cluster, page or action' })
  const open = async () => {
    await page.keyboard.press('Control+k')
    await expect.poll(() => hasFocus(field)).toBe(true)
  }
  const active = () =>
    field.evaluate((one) => document.getElementById(one.getAttribute('aria-activedescendant') ?? '')?.textContent)
  const button = page.getByRole('button', { name: 'Go to' })
  await press(button)
  await expect.poll(() => hasFocus(field)).toBe(true)
  expect(await axeProblems(page)).toEqual([])
  await page.keyboard.press('Escape')
  await expect.poll(() => hasFocus(button)).toBe(true)

  await open()
  await page.keyboard.type('over')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
  await open()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('vcluster')
  await expect.poll(active).toMatch(/^vcluster-demoKey$/)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'vcluster-demo' }).waitFor()
  await page.getByRole('button', { name: 'Rotate' }).waitFor()
  await open()
  expect(await active()).toBe('RotateAction')
  await page.keyboard.type('disab')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Disable vcluster-demo' }).waitFor()
  await page.keyboard.press('Escape')

  await open()
  await page.keyboard.type('demo/de')
  await expect.poll(active).toBe('demo/demoCluster')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'demo/demo' }).waitFor()

  await open()
  const { requests } = visits.guardsOf(page)
  const before = requests.length
  await page.keyboard.insertText(server.adminKey)
  await page.getByRole('alert').getByText('This looks like the value of a key.').waitFor()
  expect(await field.inputValue()).toBe('')
  await page.keyboard.press('Escape')
  await open()
  expect([await field.inputValue(), requests.slice(before).filter((one) => one.method() !== 'GET')]).toEqual(['', []])

  await page.keyboard.insertText(server.adminKey)
  await page.getByRole('link', { name: 'whose key it is' }).click()
  const value = page.getByLabel('Value of the key')
  const ask = async (text: string) => {
    await value.fill(text)
    await page.keyboard.press('Enter')
  }
  await ask(server.adminKey)
  await page.getByText('Active: the value works').waitFor()
  expect([await value.inputValue(), await page.getByRole('main').getByRole('link', { name: 'admin' }).count()]).toEqual(
    ['', 1],
  )
  expect(await axeProblems(page)).toEqual([])
  await ask(encodeKey(new Uint8Array(32)))
  await page.getByText('No key that you may see has this value.').waitFor()
  const sent = () => requests.filter((one) => one.url().endsWith('/accesskeylookups')).length
  const asked = sent()
  for (const [text, why] of [
    [`ghp_${'x'.repeat(36)}`, 'This looks like a secret of GitHub, not like a key.'],
    [server.adminKey.slice(0, -1), 'This is not a whole key: its checksum does not match.'],
  ] as const) {
    await ask(text)
    await page.getByText(why).waitFor()
    expect(await value.inputValue()).toBe('')
  }
  await ask('x'.repeat(40))
  const odd = page.getByText('This does not look like a key that keyplane made.')
  await odd.waitFor()
  await page.getByRole('button', { name: 'Clear it' }).click()
  expect([await value.inputValue(), await odd.count(), sent()]).toEqual(['', 0, asked])
  await ask('x'.repeat(40))
  await page.getByRole('button', { name: 'Send it anyway' }).click()
  await page.getByText('No key that you may see has this value.').waitFor()
  expect(sent()).toBe(asked + 1)
  const end = await failRequests(page, 'accesskeylookups', statusOf(429, 'TooManyRequests', 'slow down'))
  await ask(server.adminKey)
  await page.getByRole('alert').getByText('Wait a moment, then try again.').waitFor()
  expect(await value.inputValue()).toBe('')
  await end()

  const leaked = await makeKey(server, 'leaked')
  await ask(leaked.value)
  const disabling = page.getByRole('link', { name: 'Open the key to disable it' })
  expect(await disabling.getAttribute('href')).toBe(`#/keys/${leaked.name}`)
  const where = page.getByLabel('Where it was found (optional)')
  const report = page.getByRole('button', { name: 'Report as leaked: it ends immediately' })
  await where.fill(`https://paste.example/?${leaked.value}`)
  await report.click()
  await page.getByText('This address contains a secret.').waitFor()
  await where.fill('https://paste.example/1')
  expect(await axeProblems(page)).toEqual([])
  await report.click()
  await page.getByText('The value has ended, and never works again.').waitFor()
  const { status } = (await server.call(`/apis/management.platform/v1/ownedaccesskeys/${leaked.name}`)).json
  expect(status).toMatchObject({ phase: 'Leaked', leak: { url: 'https://paste.example/1' } })
  // The report is the proof of who has the value. It needs no key, and no address has the value.
  const reports = requests.filter((one) => one.url().endsWith('/leaks'))
  expect([reports.length, reports[0]?.headers().authorization]).toEqual([1, undefined])

  await goTo(page, '#/keys')
  await page.getByRole('searchbox').press('Control+k')
  expect(await page.getByRole('dialog').count()).toBe(0)
})
