/** Serves the console by the packaged template, without AWS services: it needs none. */
import { createHash } from 'node:crypto'
import { request as send } from 'node:http'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildConsole, type ConsoleFile } from '../../clients/console/build.ts'
import { packCommandLine } from '../../infra/commandlinepackage.ts'
import { buildDocumentation } from '../../infra/documentation/build.ts'
import { type Gateway, startGateway } from '../../infra/local/gateway/gateway.ts'
import { noResources } from '../support/noresources.ts'
import { packaged } from '../support/packaged.ts'

let files: ConsoleFile[]
let gateway: Gateway

const start = async (address: { stage: string } | { mapping: string }, more: Record<string, string> = {}) => {
  const { bundles } = await packaged()
  return startGateway({
    bundlesDir: bundles,
    environment: { ...noResources, ...more },
    unscheduled: true,
    address,
  })
}
beforeAll(async () => {
  files = await buildConsole()
  gateway = await start({ stage: 'prod' })
})
afterAll(() => gateway.close())

interface Answer {
  status: number
  headers: Record<string, string | undefined>
  body: Buffer
}

/** Sends a request whose path is not normalized, and follows nothing. */
const ask = (path: string, { method = 'GET', headers = {} }: { method?: string; headers?: object } = {}) =>
  new Promise<Answer>((resolve, reject) => {
    const { hostname, port, pathname } = new URL(gateway.url)
    send({ hostname, port, path: pathname + path, method, headers: { ...headers } }, async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      resolve({ status: response.statusCode ?? 0, headers: response.headers as never, body: Buffer.concat(chunks) })
    })
      .once('error', reject)
      .end()
  })

const fileOf = (pattern: RegExp): ConsoleFile => {
  const found = files.find(({ name }) => pattern.test(name))
  if (!found) throw new Error(`no file ${pattern}`)
  return found
}

describe('the console', () => {
  // threat: page-8
  test('is served without a key, and its page is not kept by browsers', async () => {
    const page = fileOf(/html$/).text.replace('{{sign-in}}\n', '')
    for (const path of ['/console/', '/console/index.html', '/console/?from=elsewhere']) {
      const { status, headers, body } = await ask(path)
      expect([path, status, headers['cache-control']]).toEqual([path, 200, 'no-store'])
      expect(headers['content-type']).toBe('text/html; charset=utf-8')
      expect(headers['audit-id']).toMatch(/^[0-9a-f-]{36}$/)
      expect(body.toString()).toBe(page)
    }
  })

  test('has files that browsers keep for a year', async () => {
    for (const { name, type, text } of files.slice(1)) {
      const { status, headers, body } = await ask(`/console/${name}`)
      expect([name, status, headers['content-type']]).toEqual([name, 200, type])
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
      expect(body.toString()).toBe(text)
    }
  })

  test('is compressed for clients that accept gzip, and for them only', async () => {
    const { name, text } = fileOf(/js$/)
    const answers = async (encoding: string) => ask(`/console/${name}`, { headers: { 'accept-encoding': encoding } })
    const gzip = await answers('br, gzip')
    expect([gzip.headers['content-encoding'], gzip.headers.vary]).toEqual(['gzip', 'Accept-Encoding'])
    expect(gunzipSync(gzip.body).toString()).toBe(text)
    expect(gzip.body.length).toBeLessThan(text.length / 2)
    const plain = await answers('gzip;q=0')
    expect([plain.headers['content-encoding'], plain.headers.vary]).toEqual([undefined, 'Accept-Encoding'])
    expect(plain.body.toString()).toBe(text)
  })

  test('is served with its documentation, which browsers do not keep', async () => {
    const documents = await buildDocumentation(join(import.meta.dirname, '../..'))
    for (const { name, type, text } of documents) {
      const { status, headers, body } = await ask(`/console/${name}`)
      expect([name, status, headers['content-type']]).toEqual([name, 200, type])
      expect(headers['cache-control']).toBe(name.endsWith('.css') ? 'public, max-age=31536000, immutable' : 'no-store')
      expect(body.toString()).toBe(text)
    }
    const { body } = await ask('/console/docs/')
    expect(body.toString()).toContain('<a href="ci">CI jobs</a>')
    const { status, headers } = await ask('/console/docs')
    expect([status, headers.location]).toEqual([308, 'docs/'])
  })

  test('is served with the package of the command line, packed once, and with its SHA-256', async () => {
    const { contents } = await packCommandLine()
    const { status, headers, body } = await ask('/console/keyplane.tgz', { headers: { 'accept-encoding': 'gzip' } })
    expect([status, headers['content-type'], headers['cache-control']]).toEqual([200, 'application/gzip', 'no-store'])
    expect([headers['content-encoding'], body.equals(Buffer.from(contents))]).toEqual([undefined, true])
    const digest = await ask('/console/keyplane.tgz.sha256')
    expect(digest.body.toString()).toBe(`${createHash('sha256').update(body).digest('hex')}  keyplane.tgz\n`)
    expect([digest.headers['content-type'], digest.headers['cache-control']]).toEqual([
      'text/plain; charset=utf-8',
      'no-store',
    ])
    expect((await ask('/console/keyplane.tgz', { method: 'HEAD' })).body.length).toBe(0)
  })

  test('has an address that ends with a slash: the one without leads there, below any stage', async () => {
    const { status, headers } = await ask('/console?a=b')
    expect([status, headers.location, headers['cache-control']]).toEqual([308, 'console/', 'no-store'])
    const target = new URL(headers.location ?? '', `${gateway.url}/console`)
    expect(target.href).toBe(`${gateway.url}/console/`)
  })

  // threat: page-6
  test.each([
    '/console/nothing.js',
    '/console/console-0000000000000000.js',
    '/console/index.html/',
    '/console/INDEX.HTML',
    '/console/%69ndex.html',
    '/console//',
    '/console//index.html',
    '/console/../console/index.html',
    '/console/..%2findex.html',
    '/console/__proto__',
    '/console/docs/nothing',
    '/console/docs/ci/',
    '/console/docs//',
    '/console/docs/..%2fci',
    '/console/docs/__proto__',
    '/console/docs/README.md',
    '/console/constructor',
    '/console/keyplane.tgz/',
    '/console/keyplane.tgz.asc',
    '/console/docs/keyplane.tgz',
    '/console/kubernetes/management/version',
    `/console/${'a'.repeat(4000)}`,
  ])('answers %s with a 404 in words', async (path) => {
    const { status, headers, body } = await ask(path)
    expect(status).toBe(404)
    expect(headers['cache-control']).toBe('no-store')
    expect(headers['content-type']).toBe('text/plain; charset=utf-8')
    expect(body.toString()).toBe(
      'There is no such page. The console has one address, which ends with /console/, and its documentation /console/docs/.\n',
    )
  })

  // threat: page-1, page-5
  test('protects itself with headers on every answer', async () => {
    for (const path of [
      '/console/',
      '/console',
      '/console/nothing',
      `/console/${fileOf(/css$/).name}`,
      '/console/docs/ci',
    ]) {
      const { headers } = await ask(path)
      expect(headers['content-security-policy']).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; " +
          "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
      )
      expect(headers).toMatchObject({
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      })
      expect(headers['permissions-policy']).toMatch(/^(\w+(-\w+)*=\(\), )+clipboard-write=\(self\)$/)
      expect(headers).not.toHaveProperty('set-cookie')
      expect(headers).not.toHaveProperty('access-control-allow-origin')
    }
  })

  test('answers HEAD with the headers of GET and no body', async () => {
    for (const path of ['/console/', '/console', '/console/nothing', `/console/${fileOf(/js$/).name}`]) {
      const [get, head] = [await ask(path), await ask(path, { method: 'HEAD' })]
      expect([head.status, head.body.length]).toEqual([get.status, 0])
      const own = ({ headers }: Answer) =>
        Object.entries(headers).filter(([name]) => !/^(audit-id|date|transfer-encoding|x-amzn-requestid)$/.test(name))
      expect(own(head)).toEqual(own(get))
    }
  })

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('answers %s as any path that is not served', async (method) => {
    for (const path of ['/console', '/console/', '/console/index.html']) {
      const [{ status, body }, other] = [await ask(path, { method }), await ask('/nothing', { method })]
      expect([path, status, body.toString()]).toEqual([path, other.status, other.body.toString()])
      expect(status).toBe(401)
    }
  })

  test('is not served below the base path, whose paths are those of Kubernetes', async () =>
    expect((await ask('/kubernetes/management/console/')).status).toBe(401))
})

test('the console is served at the root of a custom domain and below a base path mapping', async () => {
  for (const mapping of ['', 'keys']) {
    const other = await start({ mapping })
    try {
      for (const path of ['/console', '/console/']) {
        const { status, url } = await fetch(`${other.url}${path}`)
        expect([status, url]).toEqual([200, `${other.url}/console/`])
      }
    } finally {
      await other.close()
    }
  }
})

// threat: signin-5
test('the console with an identity provider has its settings in the page, and its origins in the policy', async () => {
  const other = await start(
    { mapping: '' },
    {
      CONSOLE_ISSUER: 'https://login.company.example:8443/realms/staff',
      CONSOLE_CLIENT_ID: `"><script>alert('&quot;')</script>`,
      CONSOLE_CREDENTIAL: 'staff@5d0a3a55-6d6f-4d0e-8a0f-3f1f6c0d9b11',
      CONSOLE_ORIGINS: 'https://tokens.company.example,https://login.company.example:8443',
    },
  )
  try {
    const response = await fetch(`${other.url}/console/`)
    const page = await response.text()
    const [, content = ''] = /<meta name="keyplane-sign-in" content="([^"<>]*)">/.exec(page) ?? []
    const entities: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' }
    expect(JSON.parse(content.replace(/&\w+;/g, (one) => entities[one] ?? one))).toEqual({
      issuer: 'https://login.company.example:8443/realms/staff',
      clientID: `"><script>alert('&quot;')</script>`,
      credential: 'staff@5d0a3a55-6d6f-4d0e-8a0f-3f1f6c0d9b11',
      scopes: 'openid email profile',
      origins: ['https://login.company.example:8443', 'https://tokens.company.example'],
    })
    expect(page.match(/<script/g)).toHaveLength(1)
    expect(response.headers.get('content-security-policy')).toContain(
      "; connect-src 'self' https://login.company.example:8443 https://tokens.company.example; ",
    )
  } finally {
    await other.close()
  }
})
