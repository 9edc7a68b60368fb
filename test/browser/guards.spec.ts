/** Tests the guards themselves, on pages that break each rule: a guard that finds nothing would let every test pass. */

import { spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import { delimiter, join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { type Listening, listening } from '../support/listening.ts'
import { contextOptions, test } from './support/browser.ts'
import { findBrowser, NO_BROWSER } from './support/chromium.ts'
import { type Guards, guard } from './support/guards.ts'

const KEY = `mpk_${'0123456789abcdefghijABCDEFGHIJ'.repeat(2).slice(0, 49)}`
const SUPPLIED = 'a-value-of-ones-own-that-has-no-known-form'

/** Pages by their path. A page with a policy allows scripts of its own host only. */
let content: string
let policy: string | undefined
let cookie: string | undefined
let server: Listening
let origin: string
let context: BrowserContext

beforeAll(async () => {
  const pages = createServer(({ url }, response) => {
    if (url === '/script.js') return response.setHeader('content-type', 'text/javascript').end('document.title = "ran"')
    if (url !== '/') return response.writeHead(404).end()
    response.setHeader('content-type', 'text/html; charset=utf-8')
    if (policy) response.setHeader('content-security-policy', policy)
    if (cookie) response.setHeader('set-cookie', cookie)
    response.end(content)
  })
  server = await listening(pages)
  origin = server.url
})
afterAll(() => server.stop())
const html = (body: string) =>
  `<!doctype html><html lang="en"><head><title>Test</title><link rel="icon" href="data:,"></head><body>${body}</body></html>`

describe('guards', () => {
  let guards: Guards
  let page: Page
  afterEach(() => context.close())

  const visit = test.extend(
    'visit',
    ({ chromium }) =>
      async (body: string, served: { policy?: string; cookie?: string } = {}) => {
        ;({ policy, cookie } = served)
        content = html(body)
        context = await chromium.newContext(contextOptions({}))
        guards = await guard(context, origin)
        guards.addSecret(SUPPLIED)
        page = await context.newPage()
        await page.goto(origin)
        return page
      },
  )

  visit('find nothing on a page that breaks no rule', async ({ visit }) => {
    await visit('<p>Hello</p><script src="script.js"></script>', {
      policy: "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:",
    })
    expect(await page.title()).toBe('ran')
    await page.evaluate((key) => fetch('/', { headers: { authorization: `Bearer ${key}` } }), KEY)
    expect(await guards.finish()).toEqual([])
    expect(guards.requests.map((request) => new URL(request.url()).pathname)).toEqual(['/', '/script.js', '/'])
  })

  visit.for<[string, string, RegExp[]]>([
    [
      'an inline script',
      '<script>document.title = 1</script>',
      [/^against the policy: script-src-elem inline/, /^on the console: /],
    ],
    [
      'an inline style',
      '<p style="color: red">x</p>',
      [/^against the policy: style-src-attr inline/, /^on the console: /],
    ],
  ])('find what the policy refuses: %s', async ([, body, problems], { visit }) => {
    await visit(body, { policy: "default-src 'none'; img-src data:" })
    await expect.poll(() => guards.problems.length).toBe(problems.length)
    expect((await guards.finish()).toSorted()).toEqual(problems.map((pattern) => expect.stringMatching(pattern)))
  })

  const found: readonly [string, string, RegExp][] = [
    ['an error on the console', 'console.error("broken")', /^on the console: broken$/],
    ['a warning on the console', 'console.warn("odd")', /^on the console: odd$/],
    ['an uncaught error', 'setTimeout(() => { throw new Error("thrown") })', /^uncaught: Error: thrown$/],
    ['a rejection that nobody handles', 'Promise.reject(new Error("rejected"))', /^uncaught: Error: rejected$/],
    [
      'a foreign host',
      'fetch("https://foreign.example/x").catch(() => {})',
      /^a foreign host: GET https:\/\/foreign\.example\/x$/,
    ],
    [
      'another port of this machine',
      'fetch("http://127.0.0.1:9/", { mode: "no-cors" }).catch(() => {})',
      /^a foreign host: GET http:\/\/127\.0\.0\.1:9\/$/,
    ],
    ['a WebSocket', `new WebSocket(location.origin.replace('http', 'ws'))`, /^a WebSocket: ws:/],
    ['a key in a URL', `fetch('/?key=${KEY}')`, /^a key in a URL: GET .*<redacted>$/],
    ['a supplied key in a URL, encoded', `fetch('/?key=${SUPPLIED.replaceAll('-', '%2D')}')`, /^a key in a URL: /],
    ['a key in another header', `fetch('/', { headers: { 'x-key': '${KEY}' } })`, /^a key in the header x-key: GET /],
    ['a key on the console', `console.log('mpk_', '${KEY}')`, /^a key on the console$/],
    ['a cookie', 'document.cookie = "a=1"', /^a cookie: a$/],
    ['a key in the title', `document.title = '${KEY}'`, /^a key: title$/],
    ['a key in a text', `document.body.append('${KEY}')`, /^a key: text$/],
    ['a supplied key in a text', `document.body.append('${SUPPLIED}')`, /^a key: text$/],
    ['a key in an attribute', `document.body.setAttribute('data-key', '${KEY}')`, /^a key: attribute$/],
    [
      'a key in a field that shows it',
      `const field = document.createElement('input'); field.value = '${KEY}'; document.body.append(field)`,
      /^a key: text$/,
    ],
    ['a key in sessionStorage', `sessionStorage.setItem('key', '${KEY}')`, /^a key: sessionStorage$/],
    ['a key in localStorage', `localStorage.setItem('key', '${KEY}')`, /^a key: localStorage$/],
    ['a key in the address', `location.hash = '${KEY}'`, /^a key: address$/],
    ['a key in the history', `history.replaceState({ key: '${KEY}' }, '')`, /^a key: history$/],
    ['a key in the name of the window', `window.name = '${KEY}'`, /^a key: window.name$/],
    ['a database', `indexedDB.open('keys')`, /^databases: keys$/],
  ]
  /** A browser tells each problem once, so rows with the same words are in different ones. */
  const isSame = (one: RegExp, other: RegExp) => other.source.startsWith(one.source.replace(/\$$/, ''))
  const browsers = [0, 1, 2].map((nth) => ({
    nth,
    rows: found.filter(
      ([, , problem], index) =>
        found.slice(0, index).filter(([, , earlier]) => isSame(problem, earlier)).length === nth,
    ),
  }))

  visit.for(browsers)('find what breaks any other rule, in browser $nth', async ({ rows }, { visit }) => {
    await visit('')
    for (const [what, script, problem] of rows) {
      page = await context.newPage()
      await page.goto(origin)
      expect([what, guards.problems.filter((one) => problem.test(one))]).toEqual([what, []])
      await page.evaluate(`void (() => { ${script} })()`)
      await expect.poll(() => guards.finish(), { message: what }).toContainEqual(expect.stringMatching(problem))
    }
    expect(guards.problems.join()).not.toContain(KEY)
  })

  visit('find a key in the title that is there for a moment', async ({ visit }) => {
    await visit('')
    await page.evaluate(`document.title = '${KEY}'; setTimeout(() => { document.title = 'over' })`)
    await expect.poll(() => page.title()).toBe('over')
    expect(await guards.finish()).toEqual(['a key: title'])
  })

  visit('find a cookie that the server sets', async ({ visit }) => {
    await visit('', { cookie: 'session=1; HttpOnly' })
    expect(await guards.finish()).toEqual(['a cookie: session'])
  })

  visit('allow what the test asks for', async ({ visit }) => {
    await visit('')
    guards.allowKeyIn('text')
    guards.allowKeyIn('sessionStorage')
    guards.allowMessage(/^expected$/)
    await page.evaluate(
      `document.body.append('${KEY}'); sessionStorage.setItem('key', '${KEY}'); console.error('expected')`,
    )
    await page.getByText('mpk_').waitFor()
    expect(await guards.finish()).toEqual([])
  })
})

describe('the search for a browser', () => {
  const folders = (process.env.PATH ?? '').split(delimiter)

  test('prefers CHROMIUM to PATH', () => {
    const own = findBrowser({ PATH: folders.join(delimiter), CHROMIUM: process.execPath })
    expect(own).toBe(process.execPath)
  })

  test('finds nothing when CHROMIUM names no program', () => {
    const [folder = ''] = folders
    for (const CHROMIUM of ['/nothing/chromium', import.meta.filename, folder])
      expect(findBrowser({ ...process.env, CHROMIUM })).toBeUndefined()
  })

  test('ends the run with a sentence when there is no browser', () => {
    const config = join(import.meta.dirname, 'vitest.config.ts')
    const { status, stderr } = spawnSync(process.execPath, [config], { env: { PATH: '' }, encoding: 'utf8' })
    expect([status, stderr]).toEqual([1, `${NO_BROWSER}\n`])
  })
})
