/** Making a key: with the keyboard alone, from every kind of scope, with wrong and hostile values, and when answers are lost. */

import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { testFolder } from '../support/folder.ts'
import { cluster } from '../support/objects.ts'
import { runProgram } from '../support/programs.ts'
import type { StartedServer } from '../support/startedserver.ts'
import { axeProblems } from './support/axe.ts'
import { consoleOf, goTo, test as plain, signIn } from './support/browser.ts'
import { cutNetwork, holdRequests } from './support/faults.ts'
import { HOSTILE } from './support/hostile.ts'
import { hasFocus, press, tabTo } from './support/keyboard.ts'
import { makeKey } from './support/keys.ts'

/** `PATH` with the kubectl of the tests. */
const PATH = [process.env.KUBEBUILDER_ASSETS, process.env.PATH].filter(Boolean).join(delimiter)
const hasKubectl = spawnSync('kubectl', ['version', '--client'], { env: { PATH } }).status === 0
if (!hasKubectl)
  process.stderr.write('not run, no kubectl on PATH or in KUBEBUILDER_ASSETS: the YAML beside the form\n')

const KEYS = '/apis/management.platform/v1/ownedaccesskeys'
const MINUTE = 60_000

/** A page that shows the form to the administrator. */
const test = plain.extend('form', async ({ page, server, guards }) => {
  guards.allowKeyIn('text')
  await openForm(page, server.adminKey)
  return page
})

async function openForm(page: Page, key: string): Promise<void> {
  await signIn(page, key)
  await goTo(page, '#/new-key')
  await page.getByRole('heading', { name: 'New key' }).waitFor()
}

const createButton = (page: Page) => page.getByRole('button', { name: 'Create the key' })
const revealDialog = (page: Page) => page.getByRole('dialog', { name: 'A value that is shown once' })
const storedButton = (page: Page) => page.getByRole('button', { name: 'I have stored it' })
const shownValue = (page: Page) => revealDialog(page).getByText(/^mpk_\w{49}$/)
const content = (page: Page) => page.evaluate(() => document.documentElement.outerHTML)
const sentence = (page: Page) => page.locator('.sentence').innerText()

/** Shows the value, and returns it after the person has stored it. */
async function takeValue(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Show' }).click()
  const value = await shownValue(page).innerText()
  await storedButton(page).click()
  await revealDialog(page).waitFor({ state: 'detached' })
  return value
}

const keyNamed = async (server: StartedServer, name: string) => (await server.call(`${KEYS}/${name}`)).json
const namesOf = async (server: StartedServer): Promise<string[]> =>
  (await server.call(KEYS)).json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)

/** Returns the name of the key that accepts the value. */
async function nameOfKey(server: StartedServer, value: string): Promise<string> {
  const { json } = await server.call('/apis/management.platform/v1/selves', { method: 'POST', body: {}, token: value })
  return json.status.accessKey
}

test('a key can be made with the keyboard alone, and its value is shown once', async ({ form: page, server }) => {
  await tabTo(page.getByLabel('Name (optional)', { exact: true }))
  await page.keyboard.type('by-keyboard')
  await tabTo(page.getByLabel('Project', { exact: true }))
  await page.keyboard.type('demo')
  await tabTo(page.getByLabel('Lifetime'))
  await page.keyboard.type('1 day')
  expect(await sentence(page)).toMatch(
    /^Acts as you, admin\. .* May use project demo, and nothing else, as far as you may\. Works from every address\. Ends on /,
  )
  await press(createButton(page))
  await revealDialog(page).waitFor()
  expect(await content(page)).not.toMatch(/mpk_\w/)
  await press(page.getByRole('button', { name: 'Show' }))
  const value = await shownValue(page).innerText()
  expect(await nameOfKey(server, value)).toBe('by-keyboard')
  expect(await axeProblems(page)).toEqual([])

  for (let count = 0; count < 3; count++) await page.keyboard.press('Escape')
  await press(page.getByRole('button', { name: 'Copy the value' }))
  await page.getByText('Copied').waitFor()
  await press(storedButton(page))
  await revealDialog(page).waitFor({ state: 'detached' })
  await expect.poll(() => page.url()).toMatch(/#\/keys\/by-keyboard$/)
  expect(await content(page)).not.toContain(value)
  await page.goBack()
  // Where the focus is at the beginning of a page.
  await expect.poll(() => hasFocus(page.getByRole('heading', { level: 1, name: 'New key' }))).toBe(true)
  await page.getByLabel('Description (optional)').focus()
  await page.keyboard.press('Control+V')
  await expect.poll(() => page.getByLabel('Description (optional)').inputValue()).toBe(value)
  const { spec } = await keyNamed(server, 'by-keyboard')
  expect(spec).toEqual({ scope: { projects: [{ project: 'demo' }] }, ttl: 86_400 })
})

test('a key can be duplicated from its page: everything but its name and the labels of the server', async ({
  form: page,
  server,
}) => {
  const spec = {
    displayName: 'CI of the shop',
    description: 'Ask Alice.',
    team: 'shop',
    scope: { projects: [{ project: 'shop' }], rules: [{ verbs: ['get'], resources: [{ resources: ['pods'] }] }] },
    ttl: 36 * 3600,
    sourceCIDRs: ['127.0.0.0/8'],
  }
  const metadata = { name: 'first-one', labels: { app: 'shop' } }
  const body = { apiVersion: 'management.platform/v1', kind: 'OwnedAccessKey', metadata, spec }
  expect((await server.call(KEYS, { method: 'POST', body })).status).toBe(201)

  await goTo(page, '#/keys/first-one')
  await press(page.getByRole('button', { name: 'More actions' }))
  await press(page.getByRole('link', { name: 'Duplicate' }))
  await page.getByText('Like the key first-one').waitFor()
  expect(await page.getByLabel('Name (optional)', { exact: true }).inputValue()).toBe('')
  await page.getByText('Labels: app=shop').waitFor()
  expect(await axeProblems(page)).toEqual([])
  await page.getByLabel('Name (optional)', { exact: true }).fill('second-one')
  await press(createButton(page))
  await takeValue(page)
  const made = await keyNamed(server, 'second-one')
  expect(made.spec).toEqual(spec)
  expect(made.metadata.labels).toEqual(metadata.labels)

  await goTo(page, '#/new-key?like=no-such-key')
  await page.getByRole('alert').waitFor()
  await server.call(`${KEYS}/second-one`, { method: 'DELETE' })
  await server.call(`${KEYS}/first-one`, { method: 'DELETE' })
})

/** Adds an entry of the scope. */
async function addEntry(page: Page, number: number, kind: string, parts: Record<string, string>): Promise<void> {
  await page.getByRole('button', { name: 'Add an entry' }).click()
  const entry = page.getByRole('group', { name: `Entry ${number}` })
  await entry.getByLabel('Allows').selectOption(kind)
  for (const [label, value] of Object.entries(parts)) {
    const field = entry.getByLabel(label, { exact: true })
    if (label === 'Role') await field.selectOption(value)
    else await field.fill(value)
  }
}

async function fillEverything(page: Page): Promise<void> {
  await page.getByLabel('Display name (optional)').fill("CI of 'demo'")
  await page.getByLabel('Description (optional)').fill('Ask Alice.\nOr Bob.')
  await page.getByLabel('Acts as').selectOption('A team')
  await page.getByLabel('Name of the team').fill('shop')
  await page.getByLabel('Project', { exact: true }).fill('*')
  await addEntry(page, 2, 'Virtual cluster', { Project: 'p', 'Virtual cluster': '*' })
  await addEntry(page, 3, 'Space', { Project: 'p', Space: 's' })
  await addEntry(page, 4, 'Connected cluster', { 'Connected cluster': 'west' })
  await addEntry(page, 5, 'Role', { Role: 'vcluster', 'Only in (optional)': 'a/x' })
  await addEntry(page, 6, 'Role', { Role: 'selfRotate' })
  await addEntry(page, 7, 'Rule (advanced)', { Verbs: 'get', Resources: 'pods, pods/log', Namespaces: 'shop' })
  await page.getByLabel('Lifetime').selectOption('Custom')
  await page.getByLabel('How long').fill('36')
  await page.getByLabel('Unit').selectOption('hours')
  await page.getByLabel('May be used from (optional)').fill('127.0.0.0/8\n2001:db8::/32')
}

describe.skipIf(!hasKubectl)('the YAML beside the form', () => {
  const folder = testFolder()

  /** Makes the key in the console, and by its YAML, and returns the specs. */
  async function specsOf(page: Page, server: StartedServer): Promise<object[]> {
    const manifest = join(folder, 'key.yaml')
    await writeFile(manifest, await page.locator('.beside pre').innerText())
    const access = ['--server', server.url, '--certificate-authority', server.authorityFile, '--token', server.adminKey]
    const made = await runProgram('kubectl', ['create', '-f', manifest, '-o', 'name', ...access], {
      cwd: folder,
      env: { PATH, HOME: folder },
    })
    await createButton(page).click()
    await takeValue(page)
    const names = [page.url(), made.stdout.trim()].map((one) => decodeURIComponent(one.split('/').at(-1) ?? ''))
    return Promise.all(names.map(async (name) => (await keyNamed(server, name)).spec))
  }

  test('makes the same key as the console, with every kind of entry', async ({ form: page, server }) => {
    await fillEverything(page)
    const [spec, other] = await specsOf(page, server)
    expect(spec).toMatchObject({ team: 'shop', ttl: 129_600, sourceCIDRs: ['127.0.0.0/8', '2001:db8::/32'] })
    expect(other).toEqual(spec)
  })

  test('makes the same key as the console, with hostile texts', async ({ form: page, server }) => {
    const text = Object.values(HOSTILE).join('').replaceAll('\r', '')
    const shell = "'; touch owned; $(touch owned) `touch owned` \\' EOF"
    await page.getByLabel('Display name (optional)').fill(`${shell} ${HOSTILE.direction} x`)
    await page.getByLabel('Description (optional)').fill(`${shell}\nEOF\ntouch owned\n${text.slice(0, 500)} x`)
    await page.getByLabel('Project', { exact: true }).fill('a"b\'c$(touch-owned)')
    expect(await sentence(page)).toContain('project “a"b\'c$(touch-owned)”')
    const [spec, other] = await specsOf(page, server)
    expect(other).toEqual(spec)
    expect(await page.title()).toMatch(/ · keyplane$/)
  })
})

describe('a form that is not right', () => {
  test('says so at its fields, and the first one has the focus', async ({ form: page }) => {
    const name = page.getByLabel('Name (optional)', { exact: true })
    await name.fill('Not A Name')
    await page.getByLabel('May be used from (optional)').fill('10.0.0.1/8')
    await createButton(page).click()
    await expect.poll(() => hasFocus(name)).toBe(true)
    const alert = page.getByRole('alert')
    expect(await alert.innerText()).toMatch(/^A field needs attention\.(.|\n)*Use lower-case letters/)
    await name.fill('a-name')
    expect(await name.getAttribute('aria-invalid')).toBeNull()
    await createButton(page).click()
    await expect.poll(() => hasFocus(page.getByLabel('Project', { exact: true }))).toBe(true)
    expect(await alert.innerText()).toMatch(/^2 fields need attention\.(.|\n)*Required value(.|\n)*10\.0\.0\.0\/8/)
    for (const label of ['Project', 'May be used from (optional)'])
      expect(await page.getByLabel(label, { exact: true }).getAttribute('aria-invalid')).toBe('true')
    expect(await axeProblems(page)).toEqual([])
  })

  test('sends no value that was typed in place of a name', async ({ form: page, server, guards }) => {
    await page.getByLabel('Project', { exact: true }).fill(server.adminKey)
    await createButton(page).click()
    await page.getByText('This looks like a secret value. Enter a name.').first().waitFor()
    await expect.poll(() => hasFocus(page.getByLabel('Project', { exact: true }))).toBe(true)
    await page.getByLabel('Project', { exact: true }).fill('')
    expect(await guards.finish()).toEqual([])
  })

  test('shows the refusals of the server at their fields', async ({ form: page, server }) => {
    await server.call(KEYS, { method: 'POST', body: object('taken') })
    await page.getByLabel('Project', { exact: true }).fill('demo')
    await page.getByLabel('Name (optional)', { exact: true }).fill('taken')
    for (const button of ['Check', 'Create the key']) {
      await page.getByRole('button', { name: button }).click()
      await page.getByText('A key with this name exists already.').first().waitFor()
      await expect.poll(() => hasFocus(page.getByLabel('Name (optional)', { exact: true }))).toBe(true)
    }
    await page.getByLabel('Name (optional)', { exact: true }).fill('not-taken')
    await page.getByLabel('Acts as').selectOption('A user')
    await page.getByLabel('Name of the user').fill('system:root')
    await createButton(page).click()
    await page.getByText("may not begin with 'system:'").first().waitFor()
    await expect.poll(() => hasFocus(page.getByLabel('Name of the user'))).toBe(true)
    await page.getByLabel('Name of the user').fill('alice')
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByText('The server would create this key.').waitFor()
    expect(await namesOf(server)).not.toContain('not-taken')
  })
})

const object = (name: string, spec: object = { user: 'alice', ttl: 3600, scope: {} }) => ({
  apiVersion: 'management.platform/v1',
  kind: 'OwnedAccessKey',
  metadata: { name },
  spec,
})

describe('a request', () => {
  test('is sent once when the button is clicked twice', async ({ form: page, guards, server }) => {
    await page.getByLabel('Project', { exact: true }).fill('demo')
    await page.getByLabel('Name (optional)', { exact: true }).fill('clicked-twice')
    const release = await holdRequests(page, 'ownedaccesskeys')
    await createButton(page).dblclick()
    await page.keyboard.press('Enter')
    release()
    await takeValue(page)
    const sent = guards.requests.filter((one) => one.method() === 'POST' && one.url().endsWith('ownedaccesskeys'))
    expect(sent).toHaveLength(1)
    expect(await namesOf(server)).toContain('clicked-twice')
  })

  /** Loses the answers to creates. The requests reach the API if `arrive`. */
  async function loseAnswers(page: Page, arrive: boolean): Promise<() => Promise<void>> {
    const url = /\/ownedaccesskeys$/
    await page.route(url, async (route) => {
      if (arrive) await route.fetch()
      await route.abort('connectionreset')
    })
    return () => page.unroute(url)
  }

  for (const [arrive, sources] of [
    [true, ''],
    [true, '203.0.113.7'],
    [false, ''],
  ] as const) {
    const words = arrive ? `arrived${sources ? ', for other addresses' : ''}` : 'did not arrive'
    test(`whose answer was lost can be repeated, and makes one key: it ${words}`, async ({
      form: page,
      guards,
      server,
    }) => {
      guards.allowMessage(/net::ERR_(CONNECTION_RESET|FAILED)/)
      await page.getByLabel('Project', { exact: true }).fill('demo')
      await page.getByLabel('Display name (optional)').fill(`lost ${words}`)
      await page.getByLabel('May be used from (optional)').fill(sources)
      const found = await loseAnswers(page, arrive)
      await createButton(page).click()
      await page.getByText('No answer came. The key may exist.').waitFor()
      expect(await page.getByLabel('Display name (optional)').isDisabled()).toBe(true)
      await found()
      await page.getByRole('button', { name: 'Send it again' }).click()
      const value = await takeValue(page)
      const { items } = (await server.call(KEYS)).json
      const made = items.filter(({ spec }: { spec: { displayName?: string } }) => spec.displayName === `lost ${words}`)
      expect(made).toHaveLength(1)
      await expect.poll(() => page.url().split('/').at(-1)).toBe(made[0].metadata.name)
      if (!sources) expect(await nameOfKey(server, value)).toBe(made[0].metadata.name)
    })
  }

  test('that is repeated never takes the key of somebody else for its own', async ({ form: page, guards, server }) => {
    guards.allowMessage(/net::ERR_(CONNECTION_RESET|FAILED)/)
    await page.getByLabel('Project', { exact: true }).fill('demo')
    await page.getByLabel('Name (optional)', { exact: true }).fill('of-somebody-else')
    const found = await loseAnswers(page, false)
    await createButton(page).click()
    await page.getByText('No answer came. The key may exist.').waitFor()
    await found()
    await server.call(KEYS, { method: 'POST', body: object('of-somebody-else') })
    await page.getByRole('button', { name: 'Send it again' }).click()
    await page.getByText('A key with this name exists already.').first().waitFor()
    expect(await revealDialog(page).count()).toBe(0)
  })
})

describe('a value that is shown', () => {
  const make = async (page: Page) => {
    await page.getByLabel('Project', { exact: true }).fill('demo')
    await createButton(page).click()
    await revealDialog(page).waitFor()
  }

  test('is hidden when the session ends, and waits for its person, also without a network', async ({
    openPage,
    visits,
    server,
  }) => {
    const page = await openPage({ blank: true })
    const guards = visits.guardsOf(page)
    guards.allowKeyIn('text')
    await page.clock.install()
    await page.goto(consoleOf(server.url))
    await openForm(page, server.adminKey)
    await make(page)
    await page.getByRole('button', { name: 'Show' }).click()
    const value = await shownValue(page).innerText()
    const restore = await cutNetwork(page, guards)
    await page.clock.fastForward(16 * MINUTE)
    await page.getByText('You were signed out after 15 minutes without input.').waitFor()
    await page.getByText('A value waits for the person who made it').waitFor()
    expect([await revealDialog(page).count(), (await content(page)).includes(value)]).toEqual([0, false])
    await restore()
    await page.getByLabel('Access key').fill(server.adminKey)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await revealDialog(page).waitFor()
    expect(await content(page)).not.toContain(value)
    expect(await takeValue(page)).toBe(value)
    expect(await content(page)).not.toContain(value)
  })

  test('is shown to nobody else who signs in in the tab', async ({ openPage, visits, server }) => {
    const page = await openPage({ blank: true })
    visits.guardsOf(page).allowKeyIn('text')
    await page.clock.install()
    await page.goto(consoleOf(server.url))
    await openForm(page, server.adminKey)
    await make(page)
    await page.clock.fastForward(16 * MINUTE)
    await page.getByText('A value waits for the person who made it').waitFor()
    const { value: ofAlice } = await makeKey(server, 'next-in-the-tab')
    await signIn(page, ofAlice)
    expect(await revealDialog(page).count()).toBe(0)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signIn(page, server.adminKey)
    expect(await revealDialog(page).count()).toBe(0)
  })

  test('that comes after its person has signed out is kept for nobody, and told to them', async ({
    form: page,
    server,
  }) => {
    const { value: ofAlice } = await makeKey(server, 'late-in-the-tab')
    const held = await holdRequests(page, 'ownedaccesskeys')
    await page.getByLabel('Name (optional)', { exact: true }).fill('too-late')
    await page.getByLabel('Project', { exact: true }).fill('demo')
    const answered = page.waitForResponse(
      (response) => response.request().method() === 'POST' && response.url().endsWith('/ownedaccesskeys'),
    )
    await createButton(page).click()
    await page.getByRole('button', { name: 'Creating…' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    held()
    await answered
    await signIn(page, ofAlice)
    expect(await revealDialog(page).count()).toBe(0)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signIn(page, server.adminKey)
    await page.getByText('The value of too-late: made after you signed out, and shown to nobody.').waitFor()
    expect(await revealDialog(page).count()).toBe(0)
  })

  test('is not closed without a warning when nobody has shown or copied it', async ({ form: page }) => {
    await make(page)
    await storedButton(page).click()
    await page.getByText('You have not shown or copied the value.').waitFor()
    await page.getByRole('button', { name: 'Continue without the value' }).click()
    await revealDialog(page).waitFor({ state: 'detached' })
  })

  test('asks before the page is left, and is in no storage', async ({ form: page }) => {
    await make(page)
    const asked = page.waitForEvent('dialog')
    await page.close({ runBeforeUnload: true })
    const question = await asked
    expect(question.type()).toBe('beforeunload')
    await question.dismiss()
    await page.goBack()
    await revealDialog(page).waitFor()
    expect(await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, history.state]))).toBe(
      '[{},{},null]',
    )
    await takeValue(page)
  })
})

plain('the form fits a phone, and offers the clusters that the person may see', async ({ openPage, server }) => {
  const path = '/apis/management.platform/v1/clusters'
  expect((await server.call(path, { method: 'POST', body: cluster('west') })).status).toBe(201)
  const page = await openPage({ width: 390, height: 844 })
  await openForm(page, server.adminKey)
  await addEntry(page, 2, 'Virtual cluster', { Project: 'demo' })
  await addEntry(page, 3, 'Connected cluster', {})
  const offered = (entry: number) => {
    const options = page
      .getByRole('group', { name: `Entry ${entry}` })
      .locator('datalist')
      .last()
      .locator('option')
    return options.evaluateAll((all) => all.map((one) => (one as HTMLOptionElement).value))
  }
  await expect.poll(async () => [await offered(2), await offered(3)]).toEqual([['demo'], ['west']])
  await page.getByRole('group', { name: 'Entry 2' }).getByLabel('Project').fill('dmeo')
  await page.getByText('You see no virtual cluster in a project "dmeo". Did you mean "demo"?').waitFor()
  await addEntry(page, 4, 'Rule (advanced)', {})
  await createButton(page).click()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  expect(await axeProblems(page)).toEqual([])
})

describe('a request', () => {
  test('whose answer is lost while the person is on another page is told there', async ({ form, server, guards }) => {
    guards.allowMessage(/net::ERR_FAILED/)
    const held = Promise.withResolvers<void>()
    await form.route(/\/ownedaccesskeys$/, async (route) => {
      await held.promise
      await route.abort('failed')
    })
    await form.getByLabel('Name (optional)', { exact: true }).fill('left-behind')
    await form.getByText('Everything the owner may').click()
    await form.getByRole('button', { name: 'Create the key' }).click()
    await form.getByRole('button', { name: 'Creating…' }).waitFor()
    await form.getByRole('navigation').getByRole('link', { name: 'Trusts' }).click()
    await form.getByRole('heading', { level: 1, name: 'Trusts' }).waitFor()
    held.resolve()
    await form.getByText('The key left-behind may exist, but its value is lost.').waitFor()
    expect((await server.call(`${KEYS}/left-behind`)).status).toBe(404)
  })
})
