/** Signing in and out: every way to give a key, every way in which it is refused, and where the key is afterwards. */
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import type { StartedServer } from '../support/startedserver.ts'
import { signIn, test } from './support/browser.ts'
import { cutNetwork, failRequests, holdRequests, statusOf } from './support/faults.ts'
import { hasFocus, tabTo } from './support/keyboard.ts'
import { changeKey, deleteKey, makeKey } from './support/keys.ts'

const field = (page: Page) => page.getByLabel('Access key')
const button = (page: Page) => page.getByRole('button', { name: 'Sign in', exact: true })
const alert = (page: Page) => page.getByRole('alert')
const signedIn = (page: Page) => page.getByRole('button', { name: 'Sign out' }).waitFor()

/** Drops a file onto the page, as a person does from a folder. */
async function drop(page: Page, text: string): Promise<void> {
  const files = await page.evaluateHandle((content) => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([content], 'kubeconfig', { type: 'application/yaml' }))
    return transfer
  }, text)
  await page.getByRole('main').dispatchEvent('dragover', { dataTransfer: files })
  await page.getByRole('main').dispatchEvent('drop', { dataTransfer: files })
}

describe('a person signs in', () => {
  test('by typing a key and pressing Enter', async ({ page, server }) => {
    const { value } = await makeKey(server, 'typed')
    await expect.poll(() => page.title()).toBe('Sign in · keyplane')
    await expect.poll(() => hasFocus(field(page))).toBe(true)
    await page.keyboard.type(value)
    await page.keyboard.press('Enter')
    await signedIn(page)
    await page.getByRole('banner').getByText('alice').waitFor()
    await expect.poll(() => page.title()).toBe('Overview · keyplane')
  })

  test('by pasting a key with the line break of a terminal', async ({ page, server }) => {
    const { value } = await makeKey(server, 'pasted')
    await page.evaluate((text) => navigator.clipboard.writeText(text), `  ${value}\n`)
    await field(page).press('Control+V')
    await tabTo(button(page))
    await page.keyboard.press('Enter')
    await signedIn(page)
  })

  test('by dropping the file of the local server', async ({ page, server }) => {
    await drop(page, await readFile(join(dirname(server.authorityFile), 'access-key'), 'utf8'))
    await signedIn(page)
  })

  test('with a kube config instead of a key, pasted or dropped', async ({ openPage, server }) => {
    const kubeConfig = await readFile(join(dirname(server.authorityFile), 'kubeconfig'), 'utf8')
    expect(kubeConfig).toContain(server.adminKey)
    const [pasted, dropped] = await Promise.all([openPage(), openPage()])
    await field(pasted).fill(kubeConfig.replaceAll('\n', ' '))
    await button(pasted).click()
    await signedIn(pasted)
    await drop(dropped, kubeConfig)
    await signedIn(dropped)
  })

  test('with a value of their own', async ({ page, guards, server }) => {
    const key = 'a-value-of-our-own-with-40-characters-xx'
    guards.addSecret(key)
    await makeKey(server, 'own', { key })
    await signIn(page, key)
  })

  test('and goes to the page of the address', async ({ openPage, server }) => {
    const page = await openPage({ path: '#/keys' })
    await signIn(page, server.adminKey)
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    expect(new URL(page.url()).hash).toBe('#/keys')
  })

  test('once, even if they press the button again while it works', async ({ page, guards, server }) => {
    const release = await holdRequests(page, 'selves')
    await field(page).fill(server.adminKey)
    await button(page).click()
    await page.getByRole('button', { name: 'Signing in…' }).waitFor()
    await page.keyboard.press('Enter')
    release()
    await signedIn(page)
    expect(guards.requests.filter((request) => request.url().endsWith('/selves'))).toHaveLength(1)
  })
})

describe('a key is refused, and the page says why', () => {
  const refuse = async (page: Page, key: string, words: RegExp) => {
    await field(page).fill(key)
    await button(page).click()
    await expect.poll(() => alert(page).innerText()).toMatch(words)
    // The next attempt replaces the key at once.
    await expect.poll(() => hasFocus(field(page))).toBe(true)
    expect(await page.title()).toBe('Sign in · keyplane')
  }

  test('when it is disabled, deleted, expired, or used from elsewhere', async ({ page, server }) => {
    const refused: [words: RegExp, spec: object, end?: (server: StartedServer, name: string) => Promise<void>][] = [
      [/This access key has expired\./, { ttl: 1 }],
      [/This access key is disabled\./, { disabled: true }],
      [/This access key is not accepted\./, {}, deleteKey],
      [/may not be used from 127\.0\.0\.1/, { sourceCIDRs: ['192.0.2.0/24'] }],
    ]
    for (const [words, spec, end] of refused) {
      const { name, value } = await makeKey(server, 'refused', spec)
      await end?.(server, name)
      const self = () => server.call('/apis/management.platform/v1/selves', { method: 'POST', body: {}, token: value })
      await expect.poll(async () => (await self()).status).toBeGreaterThan(400)
      await refuse(page, value, words)
    }
  })

  test('when the field is empty, has several keys, or none', async ({ page, guards }) => {
    const texts = {
      '': /Paste an access key/,
      'no key at all': /no access key/,
      [`mpk_${'0'.repeat(49)} mpk_${'1'.repeat(49)}`]: /more than one/,
    }
    for (const [text, words] of Object.entries(texts)) {
      await field(page).fill(text)
      await button(page).click()
      await page.getByText(words).waitFor()
      expect(await field(page).getAttribute('aria-invalid')).toBe('true')
    }
    expect(guards.requests.filter((request) => request.method() === 'POST')).toEqual([])
  })

  test('when a dropped file is too large', async ({ page }) => {
    await drop(page, 'x'.repeat(1_100_000))
    await page.getByText('This file is too large').waitFor()
    expect(await field(page).getAttribute('aria-invalid')).toBe('true')
  })
})

describe('nothing is lost when the server does not answer', () => {
  test('without a network', async ({ page, guards, server }) => {
    const restore = await cutNetwork(page, guards)
    await field(page).fill(server.adminKey)
    await button(page).click()
    await expect.poll(() => alert(page).innerText()).toMatch(/The server cannot be reached.*network connection/s)
    await restore()
    await button(page).click()
    await signedIn(page)
  })

  test('with codes of servers and of those in front', async ({ page, server }) => {
    await field(page).fill(server.adminKey)
    const seen = new Set<string>()
    for (const fault of [
      statusOf(503, 'ServiceUnavailable', 'the store does not answer'),
      statusOf(429, 'TooManyRequests', 'too many requests'),
      { status: 502, body: '<html>Bad Gateway</html>' },
      { status: 403, body: { message: 'Forbidden' } },
    ]) {
      const end = await failRequests(page, 'selves', fault)
      await button(page).click()
      await expect.poll(async () => seen.has(await alert(page).innerText())).toBe(false)
      seen.add(await alert(page).innerText())
      await end()
    }
    expect([...seen].join()).not.toMatch(/undefined|\[object|<html>|null/)
    await button(page).click()
    await signedIn(page)
  })
})

describe('the key', () => {
  test('is forgotten on a reload', async ({ page, server }) => {
    await signIn(page, server.adminKey)
    await page.reload()
    await button(page).waitFor()
    await expect.poll(() => page.evaluate(() => [sessionStorage.length, localStorage.length])).toEqual([0, 0])
  })

  // threat: session-3
  test('is kept for the tab if the person asks for it, and for no other tab', async ({
    page,
    guards,
    openPage,
    server,
  }) => {
    guards.allowKeyIn('sessionStorage')
    await page.getByRole('checkbox', { name: /Keep/ }).check()
    await signIn(page, server.adminKey)
    await page.reload()
    await signedIn(page)
    const other = await openPage({ beside: page })
    await button(other).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await button(page).waitFor()
    await expect.poll(() => page.evaluate(() => sessionStorage.length)).toBe(0)
    await page.reload()
    await button(page).waitFor()
  })

  // threat: session-3
  test('that was kept and is refused after a reload is forgotten', async ({ page, guards, server }) => {
    guards.allowKeyIn('sessionStorage')
    const { name, value } = await makeKey(server, 'kept')
    await page.getByRole('checkbox', { name: /Keep/ }).check()
    await signIn(page, value)
    await changeKey(server, name, { disabled: true })
    await page.reload()
    await page.getByText('This access key is disabled.').waitFor()
    await expect.poll(() => page.evaluate(() => sessionStorage.length)).toBe(0)
  })

  test('that was kept stays when the server does not answer after a reload', async ({ page, guards, server }) => {
    guards.allowKeyIn('sessionStorage')
    await page.getByRole('checkbox', { name: /Keep/ }).check()
    await signIn(page, server.adminKey)
    const end = await failRequests(page, 'selves', statusOf(503, 'ServiceUnavailable', 'the store does not answer'))
    await page.reload()
    await page.getByText(/cannot answer at the moment/).waitFor()
    await end()
    await page.getByRole('button', { name: 'Try again' }).click()
    await signedIn(page)
  })

  // threat: session-3
  test('that was kept is forgotten when the person signs in with another one instead', async ({
    page,
    guards,
    server,
  }) => {
    guards.allowKeyIn('sessionStorage')
    const other = await makeKey(server, 'other', { user: 'bob' })
    await page.getByRole('checkbox', { name: /Keep/ }).check()
    await signIn(page, server.adminKey)
    const end = await failRequests(page, 'selves', statusOf(503, 'ServiceUnavailable', 'the store does not answer'))
    await page.reload()
    await page.getByText(/cannot answer at the moment/).waitFor()
    await end()
    await signIn(page, other.value)
    await page.getByRole('banner').getByText('bob').waitFor()
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
    await page.reload()
    await button(page).waitFor()
  })

  test('that an exchange did not make still works after signing out', async ({ page, server }) => {
    const { value } = await makeKey(server, 'lasting')
    await signIn(page, value)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signIn(page, value)
  })
})
