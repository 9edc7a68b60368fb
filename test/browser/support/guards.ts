/** Watches all pages of a test for what a console must never do. Whatever it finds fails the test. */
import type { BrowserContext, ConsoleMessage, Page, Request } from 'playwright-core'

/** Where a page may show or keep a key, if the person asked for it. */
export type Place = 'text' | 'attribute' | 'sessionStorage'

export interface Guards {
  /** What was found, a sentence each. */
  readonly problems: readonly string[]
  /** All requests of the pages, in their order. */
  readonly requests: readonly Request[]
  /** Adds a value that may be in an Authorization header only. Keys and tokens of the service are known by their form. */
  addSecret(value: string): void
  /** Allows keys in a place, where the test asks for them. */
  allowKeyIn(place: Place): void
  /** Allows messages of the browser that match, such as those about a network that the test took away. */
  allowMessage(pattern: RegExp): void
  /** Allows requests to a further origin, such as that of an identity provider, and its own cookies. */
  allowOrigin(origin: string): void
  /** Looks at what the open pages show and keep, and returns all problems. */
  finish(): Promise<readonly string[]>
}

/** Matches access keys and tokens, also truncated ones. */
const SECRET = /mpk_\w{16,}|eyJ[\w-]{8,}\.[\w-]{8,}/

/** The name of the function that reports from inside a page. */
const REPORT = 'reportToTest'

interface Report {
  kind: 'policy' | Place | 'title' | 'localStorage' | 'window.name' | 'history'
  detail: string
}

export async function guard(context: BrowserContext, origin: string): Promise<Guards> {
  const problems = new Set<string>()
  const requests: Request[] = []
  const secrets = new Set<string>()
  const allowedPlaces = new Set<string>()
  const allowedMessages: RegExp[] = []
  const origins = new Set([origin])
  const reading: Promise<void>[] = []

  const holdsSecret = (text: string): boolean => SECRET.test(text) || [...secrets].some((one) => text.includes(one))
  const checkRequest = async (request: Request): Promise<void> => {
    const url = request.url()
    const { protocol, origin: asked } = new URL(url)
    const label = `${request.method()} ${withoutSecrets(url)}`
    if (protocol !== 'data:' && protocol !== 'blob:' && !origins.has(asked)) problems.add(`a foreign host: ${label}`)
    if ([url, decoded(url)].some(holdsSecret)) problems.add(`a key in a URL: ${label}`)
    const headers = await request.allHeaders().catch(() => request.headers())
    for (const [name, value] of Object.entries(headers)) {
      if (name !== 'authorization' && holdsSecret(decoded(value))) problems.add(`a key in the header ${name}: ${label}`)
      if (name === 'cookie' && asked === origin) problems.add(`a cookie: ${label}`)
    }
  }

  context.on('request', (request) => {
    requests.push(request)
    reading.push(checkRequest(request))
  })
  context.on('console', (message) => {
    const text = message.text()
    if (holdsSecret(text)) problems.add('a key on the console')
    if (!/^(error|warning|assert)$/.test(message.type()) || isRefusal(message)) return
    if (!allowedMessages.some((pattern) => pattern.test(text))) problems.add(`on the console: ${withoutSecrets(text)}`)
  })
  context.on('weberror', (error) => problems.add(`uncaught: ${withoutSecrets(String(error.error()))}`))
  context.on('page', (page) => page.on('websocket', (socket) => problems.add(`a WebSocket: ${socket.url()}`)))
  await context.exposeFunction(REPORT, ({ kind, detail }: Report) => {
    if (!allowedPlaces.has(kind)) problems.add(kind === 'policy' ? `against the policy: ${detail}` : `a key: ${kind}`)
  })
  await context.addInitScript(watchPage, { secret: SECRET.source, report: REPORT })

  const checkPage = async (page: Page): Promise<void> => {
    const held = await page.evaluate(stateOfPage)
    for (const [kind, text] of Object.entries(held)) {
      if (!allowedPlaces.has(kind) && holdsSecret(text)) problems.add(`a key: ${kind}`)
    }
    if (held.databases !== '') problems.add(`databases: ${held.databases}`)
  }
  return {
    requests,
    get problems() {
      return [...problems]
    },
    addSecret: (value) => secrets.add(value),
    allowKeyIn: (place) => allowedPlaces.add(place),
    allowMessage: (pattern) => allowedMessages.push(pattern),
    allowOrigin: (allowed) => origins.add(allowed),
    async finish() {
      // An empty page has nothing, and may keep nothing.
      await Promise.all(
        context
          .pages()
          .filter((page) => page.url() !== 'about:blank')
          .map(checkPage),
      )
      const hosts = [...origins].filter((one) => one !== origin).map((one) => new URL(one).hostname)
      for (const { name, domain } of await context.cookies())
        if (!hosts.includes(domain)) problems.add(`a cookie: ${name}`)
      await Promise.all(reading)
      return [...problems]
    },
  }
}

/** Reports whether Chromium says that the API answered with an error. Tests of pages look at what the page says about it. */
const isRefusal = (message: ConsoleMessage): boolean =>
  /^Failed to load resource: the server responded with a status of [45]\d\d /.test(message.text()) &&
  message.location().url.includes('/kubernetes/management/')

const withoutSecrets = (text: string): string => text.replaceAll(new RegExp(SECRET, 'g'), '<redacted>')

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Runs in each page before its scripts: reports violations of the policy, and keys as soon as they appear. */
function watchPage({ secret, report }: { secret: string; report: string }): void {
  // An empty page has nothing, and may keep nothing.
  if (location.protocol === 'about:') return
  const tell = (value: Report) => (window as unknown as Record<string, (value: Report) => void>)[report]?.(value)
  addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sourceFile, lineNumber }) =>
    tell({ kind: 'policy', detail: `${effectiveDirective} ${blockedURI} ${sourceFile}:${lineNumber}` }),
  )
  const pattern = new RegExp(secret)
  // As an object, a storage hides items with the names of its methods.
  const contentOf = (storage: Storage) =>
    Array.from(storage, (_, index) => `${storage.key(index)} ${storage.getItem(storage.key(index) ?? '')}`).join('\n')
  const find = (kind: Report['kind'], text: string) => pattern.test(text) && tell({ kind, detail: '' })
  const look = () => {
    find('title', document.title)
    find('text', document.body?.textContent ?? '')
    find('sessionStorage', contentOf(sessionStorage))
    find('localStorage', contentOf(localStorage))
  }
  const observer = new MutationObserver((changes) => {
    look()
    for (const { type, target, attributeName } of changes) {
      if (type === 'attributes' && target instanceof Element) {
        find('attribute', target.getAttribute(attributeName ?? '') ?? '')
      }
    }
  })
  observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true })
}

/** Runs in a page: returns everything that it shows and keeps, by its place. */
async function stateOfPage(): Promise<Record<string, string>> {
  const contentOf = (storage: Storage) =>
    Array.from(storage, (_, index) => `${storage.key(index)} ${storage.getItem(storage.key(index) ?? '')}`).join('\n')
  const elements = [...document.querySelectorAll('*')]
  const shownValues = elements.map((one) =>
    one instanceof HTMLTextAreaElement || (one instanceof HTMLInputElement && one.type !== 'password') ? one.value : '',
  )
  const attributes = elements.flatMap((one) => [...one.attributes].map(({ value }) => value))
  return {
    title: document.title,
    text: [document.body.textContent, ...shownValues].join('\n'),
    attribute: attributes.join('\n'),
    sessionStorage: contentOf(sessionStorage),
    localStorage: contentOf(localStorage),
    history: JSON.stringify(history.state) ?? '',
    address: location.href,
    'window.name': window.name,
    databases: [...(await indexedDB.databases()).map(({ name }) => name), ...(await caches.keys())].join(' '),
  }
}
