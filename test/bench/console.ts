/**
 * Measures the console in the browser of its tests: how long a first visit waits for the list of keys, and the longest frame while a
 * person filters and sorts many of them. The console and its server are real. Only the lists of keys are generated here: storing them
 * would take longer than everything else. CPU time of the page's thread counts, because other programs on the machine hardly change it.
 */
import type { Page } from 'playwright-core'
import { findBrowser, launchBrowser, NO_BROWSER } from '../browser/support/chromium.ts'
import { startedServer } from '../support/startedserver.ts'
import { median } from './measure.ts'
import { say, table } from './print.ts'

const FIRST_KEYS = 3000
const MANY_KEYS = 100_000
/** What a slow machine is: its CPU takes so many times longer. */
const SLOWDOWN = 4

/** CPU milliseconds of the page. */
const LIMITS = { rows: 1000, frame: 50 } as const

/** So long a person looks after each action, in milliseconds. All frames of that time count. */
const LOOKING_MS = 2500
const TYPING_MS = 150

const DAY_MS = 86_400_000
const TEAMS = ['payments', 'search', 'shop', 'platform', 'data', 'mobile']

/** Returns a key as a company has many of: of teams and people, in every state, with and without a scope. */
function keyAt(index: number, now: number) {
  const team = TEAMS[index % TEAMS.length] ?? ''
  const ago = (days: number) => new Date(now - days * DAY_MS).toISOString()
  return {
    metadata: {
      name: `${team}-ci-${index}`,
      uid: `8476a536-e9f4-11e8-9739-${index.toString(16).padStart(12, '0')}`,
      resourceVersion: String(index + 1),
      creationTimestamp: ago((index % 300) + 2),
      labels: { team, stage: index % 3 ? 'staging' : 'production' },
    },
    spec: {
      displayName: `Deployments of ${team}, job ${index}`,
      description: 'Deploys what the main branch has built, and reads what became of it.',
      user: `person-${index % 500}`,
      type: 'User',
      ttl: 31_536_000,
      ...(index % 11 && { scope: { roles: [{ role: 'view' }], clusters: [{ cluster: `eu-${index % 20}` }] } }),
    },
    status: {
      phase: index % 7 ? 'Active' : 'Disabled',
      owner: `person-${index % 500}`,
      ...(index % 5 && {
        lastActivity: ago(index % 120),
        lastSources: [{ ip: `192.0.2.${index % 250}`, lastSeen: ago(0) }],
      }),
      expirationTimestamp: ago(-(index % 340) - 1),
      hint: `mpk_…${index.toString(36).padStart(6, '0')}`,
    },
  }
}

/** Answers lists of so many keys, in pages of `page`. */
async function serveKeys(to: Page, count: number, page: (asked: number) => number): Promise<void> {
  const now = Date.now()
  await to.route(/\/ownedaccesskeys\?/, (route) => {
    const query = new URL(route.request().url()).searchParams
    const from = Number(query.get('continue') ?? 0)
    const until = Math.min(count, from + page(Number(query.get('limit'))))
    const items = Array.from({ length: until - from }, (_, index) => keyAt(from + index, now))
    return route.fulfill({ json: { metadata: until < count ? { continue: String(until) } : {}, items } })
  })
}

/** Keeps when the first rows were painted, and when the page changed last, from its first script on. */
const OBSERVE = `{
  const painted = new MessageChannel()
  // A browser draws frames only for who wants them.
  const next = () => requestAnimationFrame(next)
  painted.port1.onmessage = () => {
    performance.mark('rows')
    next()
  }
  let hasRows = false
  new MutationObserver(() => {
    globalThis.benchChanged = performance.now()
    if (hasRows || !document.querySelector('.row')) return
    hasRows = true
    requestAnimationFrame(() => painted.port2.postMessage(''))
  }).observe(document, { childList: true, subtree: true, characterData: true })
}`

/** Opens the list of the keys, signed in. Returns after how many milliseconds its first rows were painted. */
async function visit(page: Page, address: string, key: string): Promise<number> {
  const kept = JSON.stringify(JSON.stringify({ key, seen: Date.now() }))
  await page.addInitScript({ content: `sessionStorage.setItem('keyplane', ${kept}); ${OBSERVE}` })
  await page.goto(`${address}#/keys`)
  for (;;) {
    const rows = await page.evaluate<number | undefined>(`performance.getEntriesByName('rows')[0]?.startTime`)
    if (rows !== undefined) return rows
    await page.waitForTimeout(100)
  }
}

/** An event of a trace: docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU. Times are microseconds. */
interface Traced {
  name: string
  pid: number
  tid: number
  ts: number
  dur?: number
  /** CPU time of the thread. */
  tdur?: number
}

interface Work {
  /** CPU milliseconds of the page's thread until its first rows were painted, or in the whole trace. */
  cpu: number
  /** The most CPU milliseconds of it from one frame to the end of the next. */
  frame: number
}

/** The names of what the thread of a page does: a task, and a frame in it. */
const [TASK, FRAME] = [/RunTask$/, 'FireAnimationFrame']

/** Returns what the thread of the page does meanwhile. Its CPU time hardly depends on what else the machine does, as its frames do. */
async function workOf(page: Page, act: () => Promise<unknown>): Promise<Work> {
  const browser = page.context().browser()
  await browser?.startTracing(page, { categories: ['-*', 'toplevel', 'devtools.timeline', 'blink.user_timing'] })
  await act()
  const { traceEvents } = JSON.parse(String(await browser?.stopTracing())) as { traceEvents: Traced[] }
  const main = traceEvents.findLast(({ name }) => name === FRAME)
  const own = traceEvents.filter(({ pid, tid }) => pid === main?.pid && tid === main.tid).sort((a, b) => a.ts - b.ts)
  const end = own.find(({ name }) => name === 'rows')?.ts ?? Number.POSITIVE_INFINITY
  const frames = own.filter(({ name }) => name === FRAME).map(({ ts }) => ts)
  const work: Work = { cpu: 0, frame: 0 }
  let frame = 0
  for (const { ts, dur = 0, tdur = 0 } of own.filter((one) => TASK.test(one.name) && one.ts < end)) {
    work.cpu += tdur / 1000
    frame += tdur / 1000
    work.frame = Math.max(work.frame, frame)
    if (frames.some((at) => at >= ts && at <= ts + dur)) frame = 0
  }
  return work
}

/** What a person does with a long list. */
const ACTIONS: readonly [name: string, act: (page: Page) => Promise<void>][] = [
  ['type “payments” into the filter', (page) => typed(page, 'payments')],
  ['type “ 4711” behind it', (page) => typed(page, ' 4711')],
  ['empty the filter', (page) => page.getByRole('searchbox').fill('')],
  ['sort by the last use', (page) => sortBy(page, 'Last used')],
  ['sort by what the keys may do', (page) => sortBy(page, 'May do')],
  ['sort by name', (page) => sortBy(page, 'Name')],
  ['choose an owner', (page) => chosen(page, 'Owner', 'person-123')],
  ['choose a state', (page) => chosen(page, 'State', 'active')],
  ['type reaches:eu-7', (page) => page.getByRole('searchbox').fill('reaches:eu-7')],
  ['show what needs attention', (page) => page.getByRole('button', { name: /No scope/ }).click()],
  ['turn the wheel to the end', (page) => page.mouse.wheel(0, 10_000_000)],
]

async function typed(page: Page, text: string): Promise<void> {
  await page.getByRole('searchbox').press('End')
  await page.keyboard.type(text, { delay: TYPING_MS })
}

const sortBy = (page: Page, name: string) => page.getByRole('columnheader', { name }).getByRole('button').click()

async function chosen(page: Page, name: string, value: string): Promise<void> {
  await page.getByRole('combobox', { name }).selectOption(value)
}

/** Performs an action. Returns its work, and for how many milliseconds the page went on to change. */
async function perform(page: Page, act: (page: Page) => Promise<void>) {
  let acted = 0
  const { frame } = await workOf(page, async () => {
    await act(page)
    acted = await page.evaluate<number>('performance.now()')
    await page.waitForTimeout(LOOKING_MS)
  })
  return { frame, shown: Math.max(0, (await page.evaluate<number>('benchChanged')) - acted) }
}

/** Returns a sentence for each figure above its limit. */
export async function benchConsole({ rounds }: { rounds: number }): Promise<string[]> {
  if (findBrowser(process.env) === undefined) {
    say(NO_BROWSER)
    return []
  }
  await using stack = new AsyncDisposableStack()
  const server = stack.adopt(await startedServer(), (one) => one.stop())
  const browser = stack.adopt(await launchBrowser(), (one) => one.close())
  const address = new URL('../console/', server.url).href
  const open = async (rate: number) => {
    const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 800 } })
    const page = await context.newPage()
    page.setDefaultTimeout(120_000)
    const session = await context.newCDPSession(page)
    await session.send('Emulation.setCPUThrottlingRate', { rate })
    return page
  }

  const firstVisit = async (rate: number) => {
    const page = await open(rate)
    await serveKeys(page, FIRST_KEYS, (asked) => asked)
    let rows = 0
    const { cpu } = await workOf(page, async () => {
      rows = await visit(page, address, server.adminKey)
    })
    await page.context().close()
    return { cpu, rows }
  }
  // The first request of all waits for the server, whose files are not read yet.
  await firstVisit(1)
  const visits = []
  for (let round = 0; round < rounds; round++) visits.push(await firstVisit(SLOWDOWN))
  const cpu = median(visits.map((one) => one.cpu))
  table(
    `First rows of ${FIRST_KEYS} keys, from the navigation of somebody who is signed in, with an empty cache and a CPU ${SLOWDOWN} times slower, median of ${rounds}`,
    ['visit', 'CPU ms of the page', 'limit', 'ms on this machine'],
    [['the list of keys', cpu, LIMITS.rows, median(visits.map(({ rows }) => rows))]],
  )

  const page = await open(1)
  await serveKeys(page, MANY_KEYS, () => MANY_KEYS)
  await visit(page, address, server.adminKey)
  await page.waitForTimeout(LOOKING_MS)
  const results = ACTIONS.map(([name]) => ({ name, frames: [] as number[], shown: [] as number[] }))
  for (let round = 0; round < rounds; round++) {
    for (const [index, [, act]] of ACTIONS.entries()) {
      const { frame, shown } = await perform(page, act)
      results[index]?.frames.push(frame)
      results[index]?.shown.push(shown)
    }
    await page.evaluate('scrollTo(0, 0)')
    await page.getByRole('searchbox').fill('')
    await page.waitForTimeout(LOOKING_MS)
  }
  table(
    `Longest frame with ${MANY_KEYS} keys, which come in one page here, and a CPU as it is, median of ${rounds}`,
    ['action', 'CPU ms', 'limit', 'complete after ms'],
    results.map(({ name, frames, shown }) => [name, median(frames), LIMITS.frame, median(shown)]),
  )
  return [
    ...(cpu > LIMITS.rows ? [`The first rows of ${FIRST_KEYS} keys take more than ${LIMITS.rows} ms.`] : []),
    ...results.flatMap(({ name, frames }) =>
      median(frames) > LIMITS.frame ? [`${name}: a frame takes more than ${LIMITS.frame} ms.`] : [],
    ),
  ]
}
