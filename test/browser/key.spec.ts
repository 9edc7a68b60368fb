/** The page of one key, by keyboard: rotating it with a real use of the new value, ending it, and what it made. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import type { StartedServer } from '../support/startedserver.ts'
import { axeProblems } from './support/axe.ts'
import { clipboardText, goTo, listening, signIn, test } from './support/browser.ts'
import { failRequests, holdRequests, loseAnswer, statusOf } from './support/faults.ts'
import type { Guards } from './support/guards.ts'
import { HOSTILE } from './support/hostile.ts'
import { hasFocus, press, tabTo } from './support/keyboard.ts'
import { changeKey, deleteKey, type MadeKey, makeKey } from './support/keys.ts'

const GROUP = '/apis/management.platform/v1'
const KEYS = `${GROUP}/ownedaccesskeys`
const OBJECT = { apiVersion: 'management.platform/v1', kind: 'OwnedAccessKey' }
const MINUTE = 60_000

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const dialog = (page: Page) => page.getByRole('dialog')
/** Chooses an action. Most are in the menu beside Edit. */
async function act(page: Page, name: string, key?: string): Promise<void> {
  if (!['Edit', 'Discard the new value'].includes(name)) await press(button(page, 'More actions'))
  await press(button(page, name), key)
}
const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name })
/** The state of the key. Its history has the same words. */
const state = (page: Page, word: string) => page.locator('.badge').getByText(word, { exact: true })
const input = (page: Page) => dialog(page).getByRole('textbox')

const read = async (server: StartedServer, { name }: { name: string }) => (await server.call(`${KEYS}/${name}`)).json
const statesOf = async (server: StartedServer, key: { name: string }): Promise<string[]> =>
  ((await read(server, key)).status.values ?? []).map(({ state }: { state: string }) => state)

/** Uses a value as a job does, from outside the browser. Returns the status of the answer. */
const use = async (server: StartedServer, token: string): Promise<number> =>
  (await server.call(`${GROUP}/selves`, { method: 'POST', body: {}, token, headers: { 'user-agent': 'shop-job/2' } }))
    .status

/** Makes a key with another key. */
const makeWith = (server: StartedServer, token: string, name: string, spec: object = {}) =>
  makeKey({ ...server, call: (path, call) => server.call(path, { ...call, token }) }, name, { ttl: 3600, ...spec })

/** Shows the page of a key to a person with a value of a key. */
async function show(page: Page, { name }: { name: string }, value: string): Promise<void> {
  await listening(page.locator('body'))
  await goTo(page, `#/keys/${name}`)
  await signIn(page, value)
  await heading(page, name).first().waitFor()
  await button(page, 'Rotate').waitFor()
}

/** Shows the page, and on it the steps of a rotation. */
async function showSteps(page: Page, key: { name: string }, value: string): Promise<void> {
  await show(page, key, value)
  await press(button(page, 'Rotate'))
  await heading(page, 'Rotate').waitFor()
}

/** Makes a new value by keyboard, and returns it as the person copies it. */
async function makeValue(page: Page): Promise<string> {
  await press(button(page, 'Make a new value'))
  return await takeValue(page)
}

/** Copies the value that is shown once, and says that it is stored. */
async function takeValue(page: Page): Promise<string> {
  await dialog(page).getByText('The new value of').waitFor()
  await press(dialog(page).getByRole('button', { name: 'Copy the value' }))
  await dialog(page).getByText('Copied').waitFor()
  const value = await clipboardText(page)
  await press(button(page, 'I have stored it'))
  await expect.poll(() => dialog(page).count()).toBe(0)
  return value
}

describe('a rotation', () => {
  test('turns green when the new value is used, and ends the old value', async ({ page, server }) => {
    const key = await makeKey(server, 'shop', { ttl: 86_400 })
    await use(server, key.value)
    await showSteps(page, key, server.adminKey)
    const value = await makeValue(page)
    expect(value).toMatch(/^mpk_[0-9A-Za-z]{49}$/)
    await page.getByText('Nothing has used the new value yet.').waitFor()
    expect(await statesOf(server, key)).toEqual(['Current', 'Pending'])
    expect(await page.getByText('The new value was used').count()).toBe(0)
    expect(await axeProblems(page)).toEqual([])

    expect(await use(server, value)).toBe(201)
    await heading(page, /The new value was used/).waitFor()
    await page.getByText('The new value was used').waitFor()

    await press(button(page, 'End the old value now'))
    await dialog(page).getByText('gets a 401 at its next request').waitFor()
    await press(dialog(page).getByRole('button', { name: 'End the old value now' }))
    await button(page, 'Make a new value').waitFor()
    expect([await use(server, key.value), await use(server, value)]).toEqual([401, 201])
  })

  test('keeps to one new value when the answer is lost', async ({ page, guards, server }) => {
    const key = await makeKey(server, 'lost')
    await showSteps(page, key, server.adminKey)
    await loseAnswer(page, guards, 'POST', /\/rotate$/)
    await press(button(page, 'Make a new value'))
    await page.getByText('The key may or may not have the new value').waitFor()
    const [, pending] = (await read(server, key)).status.values
    expect(pending.state).toBe('Pending')
    await press(button(page, 'Try again'))
    const value = await takeValue(page)
    expect((await read(server, key)).status.values[1]).toEqual(pending)
    expect(await use(server, value)).toBe(201)
    await heading(page, /The new value was used/).waitFor()
  })

  test('replaces a value that is lost, also if the answer to that is lost', async ({ page, guards, server }) => {
    const key = await makeKey(server, 'replaced')
    const { json } = await server.call(`${KEYS}/${key.name}/rotate`, { method: 'POST', body: {} })
    await showSteps(page, key, server.adminKey)
    await press(button(page, 'The new value is lost'))
    await loseAnswer(page, guards, 'POST', /\/rotate$/)
    await press(button(page, 'Replace the new value'))
    await page.getByText('The key may or may not have the new value').waitFor()
    await press(button(page, 'Try again'))
    const value = await takeValue(page)
    expect(await use(server, json.status.key)).toBe(401)
    expect(await use(server, value)).toBe(201)
  })

  test('discards the new value, and the old one keeps working', async ({ page, server }) => {
    const key = await makeKey(server, 'discarded')
    await showSteps(page, key, server.adminKey)
    const value = await makeValue(page)
    await press(button(page, 'Discard the new value'))
    await press(dialog(page).getByRole('button', { name: 'Discard the new value' }))
    await button(page, 'Make a new value').waitFor()
    expect([await use(server, value), await use(server, key.value)]).toEqual([401, 201])
  })

  test('does not end the old value when the new one was used before it is discarded', async ({ page, server }) => {
    const key = await makeKey(server, 'raced')
    await showSteps(page, key, server.adminKey)
    const value = await makeValue(page)
    await press(button(page, 'Discard the new value'))
    await tabTo(dialog(page).getByRole('button', { name: 'Discard the new value' }))
    await use(server, value)
    await page.keyboard.press('Enter')
    await page.getByText('The rotation has changed in the meantime, so nothing was ended.').waitFor()
    expect(await statesOf(server, key)).toEqual(['Current', 'Retiring'])
    expect(await use(server, key.value)).toBe(201)
  })

  test('says so when another tab has made a value meanwhile', async ({ page, openPage, server }) => {
    const key = await makeKey(server, 'tabs')
    await showSteps(page, key, server.adminKey)
    const other = await openPage({ beside: page })
    await showSteps(other, key, server.adminKey)
    // The first tab shows what it has read before, as it does without the focus.
    const end = await failRequests(page, `ownedaccesskeys/${key.name}`, statusOf(503, 'ServiceUnavailable', 'not now'))
    await makeValue(other)
    await page.bringToFront()
    await press(button(page, 'Make a new value'))
    await page
      .getByRole('alert')
      .getByText(/a value has been pending since/)
      .waitFor()
    await page.getByText('This page could not be refreshed.').waitFor()
    await end()
    // It reads the key again when somebody looks.
    await page.evaluate(() => window.dispatchEvent(new Event('focus')))
    await page.getByText('Nothing has used the new value yet.').waitFor()
    expect(await statesOf(server, key)).toEqual(['Current', 'Pending'])
  })

  test('of the key of the session continues with the new value once it is stored', async ({ page, guards, server }) => {
    const key = await makeKey(server, 'own', { ttl: 86_400 })
    await showSteps(page, key, key.value)
    const value = await makeValue(page)
    guards.addSecret(value)
    await page.getByText('You are signed in with the old value').waitFor()
    await press(button(page, 'Continue with the new value'))
    await heading(page, /The new value was used/).waitFor()
    const last = guards.requests.at(-1)
    expect(await last?.headerValue('authorization')).toBe(`Bearer ${value}`)
  })

  test('that the server refuses is a sentence, and nothing is kept for a repetition', async ({ page, server }) => {
    const key = await makeKey(server, 'refused')
    await showSteps(page, key, server.adminKey)
    await failRequests(page, `ownedaccesskeys/${key.name}/rotate`, statusOf(403, 'Forbidden', 'it may not be rotated'))
    await press(button(page, 'Make a new value'))
    await page.getByRole('alert').getByText('it may not be rotated').waitFor()
    await button(page, 'Make a new value').waitFor()
    expect(await button(page, 'Try again').count()).toBe(0)
  })
})

describe('a key', () => {
  test('is disabled and enabled, and says what to do once its value has leaked', async ({ page, server }) => {
    const key = await makeKey(server, 'paused')
    await show(page, key, server.adminKey)
    await act(page, 'Disable', 'Enter')
    await tabTo(dialog(page).getByLabel('Reason'))
    await page.keyboard.type('On leave')
    await page.keyboard.press('Enter')
    await page.getByText('Disabled: On leave').waitFor()
    expect(await use(server, key.value)).toBe(401)
    await act(page, 'Enable')
    await press(button(page, 'Enable the key'))
    await page.getByText('Active', { exact: true }).waitFor()
    expect(await use(server, key.value)).toBe(201)
    await server.call('/leaks', {
      method: 'POST',
      body: { credentials: [key.value], url: 'https://git.example.com/a' },
    })
    await page.getByText('Leaked', { exact: true }).waitFor()
    const notice = page.getByRole('alert')
    await notice.getByText('found at https://git.example.com/a').waitFor()
    await notice.getByText('rotate it, and store its new value. Then enable the key.').waitFor()
    expect(await axeProblems(page)).toEqual([])
  })

  test('with which a cluster asks is changed only by who types the name of the cluster', async ({ page, server }) => {
    const scope = { roles: [{ role: 'agent' }], clusters: [{ cluster: 'eu' }] }
    const key = await makeKey(server, 'agent', { scope })
    const refuses = dialog(page).getByText('each cluster that asks with it refuses all users of keyplane: eu.')
    const name = dialog(page).getByLabel('Type eu to do it anyway')
    await show(page, key, server.adminKey)
    await act(page, 'Disable')
    await press(button(page, 'Disable the key'))
    await refuses.waitFor()
    expect(await axeProblems(page)).toEqual([])
    await name.fill('us')
    await press(button(page, 'Disable the key'))
    await dialog(page).getByText('This is not eu.').waitFor()
    expect((await server.call(`${KEYS}/${key.name}`)).json.spec.disabled).toBeUndefined()
    await name.fill('eu')
    await page.keyboard.press('Enter')
    await state(page, 'Disabled').waitFor()
    // Nobody is asked about a key that gives no access.
    await act(page, 'Enable')
    await press(button(page, 'Enable the key'))
    await page.getByText('Active', { exact: true }).waitFor()
    await press(button(page, 'Edit'))
    await dialog(page).getByLabel('May be used from').fill('10.0.0.0/8')
    await press(button(page, 'Save'))
    await refuses.waitFor()
    await page.keyboard.press('Escape')
    await press(button(page, 'Discard it'))
    await act(page, 'Delete')
    await input(page).fill(key.name)
    await page.keyboard.press('Enter')
    await refuses.waitFor()
    await name.fill('eu')
    await page.keyboard.press('Enter')
    await page.getByText(`${key.name} was deleted.`).waitFor()
  })

  test('that was revoked says why, on its page and in the list', async ({ page, server }) => {
    const key = await makeKey(server, 'left')
    const spec = { names: [key.name], action: 'Disable', reason: 'Contractor left' }
    await server.call(KEYS.replace('ownedaccesskeys', 'accesskeyrevocations'), { method: 'POST', body: { spec } })
    await show(page, key, server.adminKey)
    await page.getByText('Disabled: Contractor left').waitFor()
    await goTo(page, `#/keys?filter=${key.name}`)
    await page.getByTitle('Contractor left').waitFor()
  })

  test('is deleted only by its exact name, and the list says so', async ({ page, server }) => {
    const key = await makeKey(server, 'ended')
    await show(page, key, server.adminKey)
    await act(page, 'Delete')
    for (const wrong of ['', key.name.toUpperCase(), `${key.name} `, `${key.name}\u200b`, key.name.slice(1)]) {
      await tabTo(input(page))
      await page.keyboard.press('Control+A')
      await page.keyboard.press('Delete')
      await page.keyboard.insertText(wrong)
      await page.keyboard.press('Enter')
      await dialog(page).getByText('This is not the name of the key.').waitFor()
      await expect.poll(() => hasFocus(input(page))).toBe(true)
    }
    expect(await use(server, key.value)).toBe(201)
    await page.keyboard.press('Control+A')
    await page.keyboard.type(key.name)
    await page.keyboard.press('Enter')
    await page.getByText(`${key.name} was deleted.`).waitFor()
    await heading(page, 'Keys').waitFor()
    expect(await use(server, key.value)).toBe(401)
  })

  test('that is deleted while the person looks at another page leaves them there', async ({ page, server }) => {
    const key = await makeKey(server, 'late')
    await show(page, key, server.adminKey)
    await act(page, 'Delete')
    const release = await holdRequests(page, `ownedaccesskeys/${key.name}`)
    await input(page).fill(key.name)
    await page.keyboard.press('Enter')
    await button(page, 'Deleting…').waitFor()
    await page.keyboard.press('Escape')
    await goTo(page, '#/trusts')
    await heading(page, 'Trusts').first().waitFor()
    release()
    await page.getByText(`${key.name} was deleted.`).waitFor()
    expect(await page.evaluate(() => location.hash)).toBe('#/trusts')
  })

  test('of the same name made since is not deleted', async ({ page, server }) => {
    const name = 'made-anew'
    const body = { ...OBJECT, metadata: { name }, spec: { user: 'alice' } }
    const make = async () => (await server.call(KEYS, { method: 'POST', body })).json.spec.key
    await make()
    await show(page, { name }, server.adminKey)
    await act(page, 'Delete')
    await deleteKey(server, name)
    const value = await make()
    await tabTo(input(page))
    await page.keyboard.type(name)
    await page.keyboard.press('Enter')
    await dialog(page).getByRole('alert').waitFor()
    expect(await use(server, value)).toBe(201)
  })

  test('that is that of the session ends the session in words when it is disabled', async ({ page, server }) => {
    const key = await makeKey(server, 'self')
    await show(page, key, key.value)
    await act(page, 'Disable')
    await dialog(page).getByText('You are signed in with this key').waitFor()
    await press(button(page, 'Disable the key'))
    await page.getByText('access key is disabled').waitFor()
    await button(page, 'Sign in').waitFor()
  })

  test('that is not there, or cannot be, says so', async ({ openPage, server }) => {
    const page = await openPage({ path: '#/keys/nobody' })
    await signIn(page, server.adminKey)
    await page.getByText('There is no such key').waitFor()
    for (const [name, title] of [
      ['..', 'Not found'],
      ['%3Cimg%20src=x%3E', 'No such key'],
      ['%2e%2e', 'Not found'],
      ['a%2Fb', 'No such key'],
    ] as const) {
      await goTo(page, `#/keys/${name}`)
      await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
    }
  })

  test('is edited field by field, and a conflict is a sentence', async ({ page, server }) => {
    const key = await makeKey(server, 'edited', { displayName: 'Before', ttl: 86_400 })
    await show(page, key, server.adminKey)
    await press(button(page, 'Edit'))
    await tabTo(page.getByLabel('Display name'))
    await page.keyboard.press('Control+A')
    await page.keyboard.type('After')
    for (const _ of ['once', 'twice']) await page.keyboard.press('Escape')
    await page.getByText('What you have typed is not sent.').waitFor()
    await page.keyboard.press('Enter')
    await page.getByText(`${key.name} was changed.`).waitFor()
    expect((await read(server, key)).spec).toMatchObject({ displayName: 'After', ttl: 86_400 })

    await press(button(page, 'Edit'))
    await changeKey(server, key.name, { description: 'by somebody else' })
    await tabTo(page.getByLabel('Lifetime'))
    await page.keyboard.type('Custom')
    await press(button(page, 'Save'))
    await dialog(page).getByText('Write a whole number above 0.').waitFor()
    await expect.poll(() => hasFocus(page.getByLabel('How long'))).toBe(true)
    await page.keyboard.type('2')
    await page.keyboard.press('Enter')
    await dialog(page).getByText('Someone else changed it at the same time.').waitFor()
    expect((await read(server, key)).spec).toMatchObject({ description: 'by somebody else', ttl: 86_400 })
  })

  test('is given another scope after a dry run, which says what it gains and loses', async ({ openPage, server }) => {
    const page = await openPage({ width: 390 })
    const key = await makeKey(server, 'scoped', {
      scope: { projects: [{ project: 'demo' }], clusters: [{ cluster: 'c' }] },
    })
    const scopeOf = async () => (await read(server, key)).spec.scope
    const scope = await scopeOf()
    await show(page, key, server.adminKey)
    await act(page, 'Edit scope')
    await dialog(page).getByText('Now: project demo; cluster c.').waitFor()
    await page.getByLabel('Project', { exact: true }).fill('shop')
    await press(button(page, 'Remove entry 2'))
    await dialog(page).getByText('After: project shop.').waitFor()
    expect(await dialog(page).getByRole('listitem').allInnerTexts()).toEqual([
      '- projects: {project: demo}',
      '- clusters: {cluster: c}',
      '+ projects: {project: shop}',
    ])
    await press(button(page, 'Check'))
    await dialog(page).getByText('Nothing is saved yet.').waitFor()
    expect(await axeProblems(page)).toEqual([])
    expect(await scopeOf()).toEqual(scope)

    await changeKey(server, key.name, { scope: { projects: [{ project: 'other' }] } })
    await press(button(page, 'Save'))
    await dialog(page).getByText('Someone else changed it at the same time.').waitFor()
    await press(button(page, 'Compare with what it may do now'))
    await dialog(page).getByText('Now: project other; cluster c.').waitFor()
    await press(button(page, 'Check'))
    await press(button(page, 'Save'))
    await page.getByText(`What ${key.name} may do was changed.`).waitFor()
    expect(await scopeOf()).toEqual({ projects: [{ project: 'shop' }] })

    await act(page, 'Edit scope')
    await press(button(page, 'Remove entry 1'))
    await press(button(page, 'Check'))
    const meant = page.getByRole('checkbox', { name: 'Yes, the key may do nothing' })
    await expect.poll(() => hasFocus(meant)).toBe(true)
    await page.keyboard.press('Space')
    await press(button(page, 'Check'))
    await press(button(page, 'Save'))
    await expect.poll(scopeOf).toEqual({})
  })

  test('is given the smaller scope of the advice, and its former one', async ({ openPage, server }) => {
    const page = await openPage({ width: 390 })
    const scope = { projects: [{ project: 'shop' }, { project: 'data' }] }
    const key = await makeKey(server, 'advised', { groups: ['system:masters'], scope })
    const list = (project: string) =>
      server.call(`${GROUP}/namespaces/p-${project}/virtualclusterinstances`, { token: key.value })
    await list('shop')
    await show(page, key, server.adminKey)
    await page.getByText('- projects: {project: data}').waitFor()
    await changeKey(server, key.name, { description: 'by somebody else' })
    await press(button(page, 'Use the smaller scope'))
    await dialog(page).getByText('Someone else changed it at the same time.').waitFor()
    await page.keyboard.press('Escape')
    await page.reload()
    await signIn(page, server.adminKey)
    await press(button(page, 'Use the smaller scope'))
    await dialog(page).getByText('Nothing is saved yet.').waitFor()
    expect((await read(server, key)).spec.scope).toEqual(scope)
    expect(await axeProblems(page)).toEqual([])
    await press(button(page, 'Save'))
    await press(button(page, 'Put the former scope back'))
    await dialog(page).getByText('Nothing is saved yet.').waitFor()
    expect((await list('data')).status).toBe(403)
    expect(await axeProblems(page)).toEqual([])
    await press(button(page, 'Save'))
    await expect.poll(async () => (await read(server, key)).spec.scope).toEqual(scope)
  })

  test('shows what it asked for and its scope refused apart from what it did', async ({ page, server }) => {
    const scope = { projects: [{ project: 'demo' }] }
    const key = await makeKey(server, 'asking', { scope })
    const list = (project: string) =>
      server.call(`${GROUP}/namespaces/p-${project}/virtualclusterinstances`, { token: key.value })
    await list('demo')
    await list('other')
    await show(page, key, server.adminKey)
    const use = page.getByRole('region', { name: 'Use' })
    const under = async (title: string) => {
      const items = use.getByRole('heading', { name: title }).locator('+ ul').getByRole('listitem')
      await items.first().waitFor()
      return items.allInnerTexts()
    }
    expect(await under('Asked for, refused by the scope')).toEqual([expect.stringContaining('in project "other"')])
    expect(await under('Requests, and when each was last made')).toEqual([expect.stringContaining('in project "demo"')])
  })

  test('shows texts of others as they are, on a phone too', async ({ openPage, server }) => {
    const page = await openPage({ width: 390 })
    const { name } = await makeKey(server, 'hostile', { displayName: HOSTILE.markup, description: HOSTILE.direction })
    await server.call(`${KEYS}/${name}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { metadata: { annotations: { long: HOSTILE.long, markup: HOSTILE.markup, lines: HOSTILE.lines } } },
    })
    await show(page, { name }, server.adminKey)
    await page.getByText('No requests are recorded.').waitFor()
    await page.getByText(HOSTILE.markup).first().waitFor()
    await page.getByText('gnp.\\u{202e}exe').first().waitFor()
    await page.getByText('YAML', { exact: true }).click()
    expect(await page.title()).toBe('Access key · keyplane')
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    expect(await axeProblems(page)).toEqual([])
  })
})

describe('a lost answer', () => {
  const reset = (page: Page) => dialog(page).getByText('The server cannot be reached.').waitFor()

  /** Opens a dialog of a new key whose next request of this method loses its answer. */
  async function open(page: Page, guards: Guards, server: StartedServer, action: string, method: string) {
    const key = await makeKey(server, 'lost')
    await show(page, key, server.adminKey)
    await act(page, action)
    await loseAnswer(page, guards, method, /\/ownedaccesskeys\/lost-/)
    return key
  }
  const version = async (server: StartedServer, key: MadeKey) => (await read(server, key)).metadata.resourceVersion

  test('to a deletion: the repetition finds it deleted, and the list says so', async ({ page, guards, server }) => {
    const key = await open(page, guards, server, 'Delete', 'DELETE')
    await tabTo(input(page))
    await page.keyboard.type(key.name)
    await page.keyboard.press('Enter')
    await reset(page)
    expect(await use(server, key.value)).toBe(401)
    await page.keyboard.press('Enter')
    await page.getByText(`${key.name} was deleted.`).waitFor()
    await heading(page, 'Keys').waitFor()
  })

  test('to a change of the state: the repetition changes nothing, and is done', async ({ page, guards, server }) => {
    const key = await open(page, guards, server, 'Disable', 'PATCH')
    await press(button(page, 'Disable the key'))
    await reset(page)
    expect(await use(server, key.value)).toBe(401)
    const before = await version(server, key)
    await press(button(page, 'Disable the key'))
    await expect.poll(() => dialog(page).count()).toBe(0)
    await state(page, 'Disabled').waitFor()
    expect(await version(server, key)).toBe(before)
  })

  test.for(['the repetition changes nothing', 'somebody else has changed it since'])(
    'to an edit: %s',
    async (title, { page, guards, server }) => {
      const key = await open(page, guards, server, 'Edit', 'PATCH')
      await tabTo(page.getByLabel('Display name'))
      await page.keyboard.type('After')
      await page.keyboard.press('Enter')
      await reset(page)
      const isAlone = title.startsWith('the repetition')
      if (!isAlone) await changeKey(server, key.name, { displayName: 'By somebody else' })
      const before = await version(server, key)
      await page.keyboard.press('Enter')
      const words = isAlone ? `${key.name} was changed.` : 'Someone else changed it at the same time.'
      await page.getByText(words).waitFor()
      expect(await version(server, key)).toBe(before)
      expect((await read(server, key)).spec.displayName).toBe(isAlone ? 'After' : 'By somebody else')
    },
  )
})

describe('a key whose page is open', () => {
  const open = async (
    openPage: (options: { blank: true }) => Promise<Page>,
    address: string,
    key: MadeKey,
    value: string,
  ) => {
    const page = await openPage({ blank: true })
    await page.clock.install()
    await page.goto(address)
    await show(page, key, value)
    await page.getByText('Active', { exact: true }).waitFor()
    return page
  }

  test('reads its history again after a change, and once more when the server has kept it', async ({
    openPage,
    address,
    server,
  }) => {
    const key = await makeKey(server, 'changed')
    const page = await open(openPage, address, key, server.adminKey)
    await page.getByText('What happened in the last minute may be missing.').waitFor()
    const isRead = () => page.waitForRequest((request) => request.url().endsWith(`${key.name}/history`))
    const afterwards = isRead()
    await changeKey(server, key.name, { disabled: true })
    await page.clock.fastForward(MINUTE / 4)
    await afterwards
    await state(page, 'Disabled').waitFor()
    const kept = isRead()
    await page.clock.fastForward(MINUTE + 5000)
    await kept
  })

  test('says that it has expired, without a reload', async ({ openPage, address, server }) => {
    const key = await makeKey(server, 'expiring', { ttl: 3600 })
    const page = await open(openPage, address, key, server.adminKey)
    await changeKey(server, key.name, { ttl: 1 })
    await expect.poll(() => use(server, key.value)).toBe(401)
    await page.clock.fastForward(MINUTE)
    await state(page, 'Expired').waitFor()
    await press(button(page, 'Rotate'))
    await page.getByText('An expired key cannot be rotated. Make a new key.').waitFor()
    await button(page, 'More actions').waitFor()
    // The session is that of another key.
    await button(page, 'Sign out').waitFor()
  })

  test.for([
    ['Edit', 'Save'],
    ['Disable', 'Disable the key'],
    ['Delete', 'Delete the key'],
    ['Discard the new value', 'Discard the new value'],
  ] as const)(
    'and was deleted by somebody else closes the dialog "%s"',
    async ([action, confirm], { openPage, address, server }) => {
      const key = await makeKey(server, 'vanished', { description: 'long '.repeat(4000) })
      await server.call(`${KEYS}/${key.name}/rotate`, { method: 'POST', body: {} })
      const page = await open(openPage, address, key, server.adminKey)
      await page.getByText('1 long text').waitFor()
      expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(4000)
      await act(page, action)
      await dialog(page).getByRole('button', { name: confirm }).waitFor()
      await deleteKey(server, key.name)
      await page.clock.fastForward(MINUTE)
      await page.getByText('This key was deleted').waitFor()
      await page.getByText('Deleted', { exact: true }).waitFor()
      expect(await dialog(page).count()).toBe(0)
      expect(await button(page, action).count()).toBe(0)
      await expect.poll(() => hasFocus(page.getByRole('heading', { level: 1, name: key.name }))).toBe(true)
    },
  )

  test.for([
    ['Edit', 'Save'],
    ['Disable', 'Disable the key'],
    ['Delete', 'Delete the key'],
  ] as const)(
    'and was deleted says so to who confirms "%s" before the page knows',
    async ([action, confirm], { page, server }) => {
      const key = await makeKey(server, 'unnoticed')
      // The page reads a key whose rotation is pending more often.
      await server.call(`${KEYS}/${key.name}/rotate`, { method: 'POST', body: {} })
      await show(page, key, server.adminKey)
      await act(page, action)
      await dialog(page).waitFor()
      const read = Promise.withResolvers<void>()
      await page.route(new RegExp(`/ownedaccesskeys/${key.name}$`), async (route) => {
        if (route.request().method() === 'GET') await read.promise
        await route.fallback()
      })
      if (action === 'Edit') await page.getByLabel('Display name').fill('After')
      if (action === 'Delete') await input(page).fill(key.name)
      await deleteKey(server, key.name)
      await press(dialog(page).getByRole('button', { name: confirm }))
      await dialog(page).getByRole('alert').getByText('It does not exist any more.').waitFor()
      read.resolve()
      await page.getByText('This key was deleted').waitFor()
      expect(await dialog(page).count()).toBe(0)
    },
  )
})

describe('what a key made', () => {
  test('is shown, and revoked after a dry run', async ({ page, server }) => {
    const key = await makeKey(server, 'maker')
    const child = await makeWith(server, key.value, 'child', { displayName: HOSTILE.markup })
    // It may not outlive its maker.
    const grandchild = await makeWith(server, child.value, 'grandchild', { ttl: 600 })
    await show(page, key, server.adminKey)
    expect(await axeProblems(page)).toEqual([])
    await act(page, 'Revoke all that it made')
    await dialog(page).getByText('These 2 keys match.').waitFor()
    await dialog(page).getByText(child.name).waitFor()
    expect(await use(server, child.value)).toBe(201)
    await tabTo(page.getByLabel('Reason'))
    await page.keyboard.type('laptop stolen')
    await press(button(page, 'Disable 2 keys'))
    await dialog(page).getByText('Disabled 2 of 2 keys.').waitFor()
    const answers = [await use(server, child.value), await use(server, grandchild.value), await use(server, key.value)]
    expect(answers).toEqual([401, 401, 201])
    expect((await read(server, child)).metadata.annotations).toEqual({
      'management.platform/disabled-reason': 'laptop stolen',
    })
    await press(button(page, 'Close'))

    await act(page, 'Revoke all that it made')
    await dialog(page).getByText('No key matches.').waitFor()
    await tabTo(dialog(page).getByRole('radio', { name: /Disable/ }))
    await page.keyboard.press('ArrowDown')
    await press(button(page, 'Delete 2 keys'))
    await dialog(page).getByText('Deleted 2 of 2 keys.').waitFor()
    await press(button(page, 'Close'))
  })

  test('is told from what an earlier key of its name made', async ({ page, server }) => {
    const first = await makeKey(server, 'again')
    const made = await makeWith(server, first.value, 'earlier')
    await server.call(`${KEYS}/${first.name}`, { method: 'DELETE' })
    const body = { ...OBJECT, metadata: { name: first.name }, spec: { user: 'alice' } }
    await server.call(KEYS, { method: 'POST', body })
    await show(page, made, server.adminKey)
    const maker = page.getByRole('link', { name: first.name })
    expect(await maker.getAttribute('href')).toBe(`#/keys?filter=maker%3A${first.name}`)
    await goTo(page, `#/keys/${first.name}`)
    await press(button(page, 'More actions'))
    await press(page.getByRole('link', { name: 'List all that it made' }))
    await page.getByRole('link', { name: made.name }).waitFor()
  })

  test('is revoked with its trusts if the person asks for it', async ({ page, server }) => {
    const key = await makeKey(server, 'maker', { groups: ['system:masters'] })
    const make = (path: string, name: string, spec: object, token?: string) =>
      server.call(`${GROUP}/${path}`, { method: 'POST', body: { metadata: { name }, spec }, ...(token && { token }) })
    const provider = { issuer: 'https://login.example.com' }
    const trust = { identityProvider: 'made', claims: [{ claim: 'sub', values: ['job'] }], scope: {} }
    await make('identityproviders', 'made', provider)
    await make('federatedidentitycredentials', 'made-ci', trust, key.value)
    await show(page, key, server.adminKey)
    await act(page, 'Revoke all that it made')
    await dialog(page).getByText('No key matches.').waitFor()
    await dialog(page)
      .getByRole('checkbox', { name: /trusts/ })
      .check()
    await dialog(page).getByText('1 trust matches.').waitFor()
    await dialog(page).getByText('made-ci').waitFor()
    await press(button(page, 'Disable 1 trust'))
    await dialog(page).getByText('Disabled 1 of 1 trust.').waitFor()
    expect((await server.call(`${GROUP}/federatedidentitycredentials/made-ci`)).json.spec.disabled).toBe(true)
  })

  /** Lets each revocation end only the first of these keys that is left, as a server does whose time is up. */
  async function slowDown(page: Page, names: string[], failAt?: number): Promise<void> {
    let requests = 0
    await page.route(/\/accesskeyrevocations$/, async (route) => {
      requests += 1
      if (requests === failAt) return route.fulfill({ status: 503, json: { message: 'not now' } })
      const { madeWith: _, ...spec } = route.request().postDataJSON().spec
      const left = names.splice(0, 1)
      const response = await route.fetch({
        postData: { ...route.request().postDataJSON(), spec: { ...spec, names: left } },
      })
      const { status, ...answer } = await response.json()
      await route.fulfill({ response, json: { ...answer, status: { ...status, remaining: names.length > 0 } } })
    })
  }

  test('is revoked in several requests if one is not enough, and an error does not lose the count', async ({
    page,
    server,
  }) => {
    const key = await makeKey(server, 'maker')
    const made: MadeKey[] = []
    for (let count = 0; count < 4; count++) made.push(await makeWith(server, key.value, 'made'))
    await show(page, key, server.adminKey)
    await act(page, 'Revoke all that it made')
    await dialog(page).getByText('These 4 keys match.').waitFor()
    await slowDown(
      page,
      made.map(({ name }) => name),
      3,
    )
    await press(button(page, 'Disable 4 keys'))
    await dialog(page).getByRole('alert').getByText('not now').waitFor()
    await dialog(page).getByText('Disabled 2 of 4 keys.').waitFor()
    expect(await Promise.all(made.map(({ value }) => use(server, value)))).toEqual([401, 401, 201, 201])
    await press(button(page, 'Continue'))
    await dialog(page).getByText('Disabled 4 of 4 keys.').waitFor()
    await button(page, 'Close').waitFor()
    expect(await Promise.all(made.map(({ value }) => use(server, value)))).toEqual([401, 401, 401, 401])
  })

  test('is left as it is when a revocation does not get on, which the dialog says', async ({
    page,
    guards,
    server,
  }) => {
    const key = await makeKey(server, 'maker')
    const made = await makeWith(server, key.value, 'made')
    await show(page, key, server.adminKey)
    await act(page, 'Revoke all that it made')
    await dialog(page).getByText('This key matches.').waitFor()
    const sent = () => guards.requests.filter((one) => one.url().endsWith('/accesskeyrevocations')).length
    const before = sent()
    await page.route(/\/accesskeyrevocations$/, (route) =>
      route.fulfill({ status: 201, json: { status: { matched: 1, done: 0, failed: 0, remaining: true } } }),
    )
    await press(button(page, 'Disable 1 key'))
    await dialog(page).getByRole('alert').getByText('could not revoke the remaining keys in time').waitFor()
    expect(await dialog(page).getByText('The console failed.').count()).toBe(0)
    expect(sent() - before).toBe(3)
    await page.unroute(/\/accesskeyrevocations$/)
    await press(button(page, 'Continue'))
    await dialog(page).getByText('Disabled 1 of 1 key.').waitFor()
    expect(await use(server, made.value)).toBe(401)
  })
})
