/** Compares the tables of docs/federation.md and of the pages of platforms with what the API and the tokens say. */
import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { revokePath, sendForm } from '../support/federation.ts'
import { type Platform, startPlatform, yamlOf } from '../support/federationpages.ts'
import { readIdTokenShapes } from '../support/idtokens.ts'
import { startServer, type TestServer } from '../support/server.ts'

const PLATFORMS = 'docs/federation-platforms.md'
const PODS = 'docs/federation-pods.md'
const OTHERS = 'docs/federation-others.md'

const seconds = () => Math.floor(Date.now() / 1000)
/** When the deployment lost its table, in Unix seconds. */
const restored = seconds() - 200

let server: TestServer
let platform: Platform
beforeAll(async () => {
  server = await startServer({ REJECT_ID_TOKENS_BEFORE: String(restored) })
})
afterAll(() => server?.stop())
afterEach(() => platform?.stop())

describe('docs/federation.md', async () => {
  const page = await readFile(new URL('../../docs/federation.md', import.meta.url), 'utf8')
  const [provider, trust] = await yamlOf(PLATFORMS, 'GitHub Actions')

  /** Returns the texts in the first column of a table, with what differs each time replaced. */
  const textsBelow = (header: string): string[] => {
    const [, rows = ''] = new RegExp(`^\\| ${header} \\|\n\\|[-|]+\\|\n((?:\\|.*\n)+)`, 'm').exec(page) ?? []
    return [...rows.matchAll(/^\| `([^`]+)`/gm)].map(([, text = '']) => constant(text))
  }
  const constant = (text: string) => text.replace(/20[-0-9T:]+Z|\d+ s (?=ago|ahead)/g, '#')
  const refusalOf = async (answer: ReturnType<Platform['exchange']>) => {
    const { status, json } = await answer
    return status === 400 ? constant(json.error_description) : `status ${status}`
  }

  test('has the texts of refused exchanges', async () => {
    platform = await startPlatform(
      server,
      [{ ...provider, spec: { ...provider.spec, maxTokenAge: 600 } }, trust],
      'github.environment',
    )
    const { idToken: token, exchange } = platform
    const now = seconds()
    const once = token()
    expect((await exchange(once)).status).toBe(200)
    const exchangedOften = async () => {
      const pods = await startPlatform(server, await yamlOf(PODS, 'Kubernetes pods'), 'kubernetes.pod')
      const shared = pods.idToken()
      const again = () => pods.exchange(shared)
      await Promise.all(Array.from({ length: 50 }, again))
      return again().finally(pods.stop)
    }
    const podsWith = async (spec: object, act: (pods: Platform) => ReturnType<Platform['exchange']>) => {
      const [cluster, ofPods] = await yamlOf(PODS, 'Kubernetes pods')
      const pods = await startPlatform(
        server,
        [cluster, { ...ofPods, spec: { ...ofPods.spec, ...spec } }],
        'kubernetes.pod',
      )
      return act(pods).finally(pods.stop)
    }
    const ofTokensOnly = () => podsWith({ tokensOnly: true }, (pods) => pods.exchange(pods.idToken()))
    const exchangedAfterEnd = () =>
      podsWith({ scope: { clusters: [{ cluster: 'prod' }] } }, async (pods) => {
        const [shared, audience] = [pods.idToken(), 'clusters/prod']
        const { json } = await pods.exchange(shared, { audience })
        await sendForm(server, revokePath, new URLSearchParams({ token: json.access_token }).toString())
        return pods.exchange(shared, { audience })
      })
    const ofServiceAccount = async () => {
      const pods = await startPlatform(server, await yamlOf(OTHERS, 'Any OpenID Connect issuer'), 'oidc.person')
      return pods
        .exchange(pods.idToken({ iss: 'https://builds.example.com', sub: 'job:nightly', 'kubernetes.io': {} }))
        .finally(pods.stop)
    }
    // One after another, because they have the same names.
    const often = await exchangedOften()
    const withoutTarget = await ofTokensOnly()
    const afterEnd = await exchangedAfterEnd()
    const refused = [
      exchange(token({ repository_id: '999' })),
      exchange(token({ environment: 'staging' })),
      exchange(token({ event_name: 'pull_request' })),
      exchange(token({ environment: undefined })),
      exchange(token({ iat: now - 300, nbf: now - 300, exp: now - 95 })),
      exchange(token({ iat: now + 95, nbf: now + 95, exp: now + 300 })),
      exchange(token({ iat: now - 700, nbf: now - 700, exp: now + 95 })),
      exchange(once),
      Promise.resolve(often),
      exchange(token({ iat: now, nbf: now, exp: now + 86_700 })),
      ofServiceAccount(),
      exchange(token({ iat: restored - 1, nbf: restored - 1 })),
      exchange(token(), { audience: 'clusters/prod' }),
      exchange(token(), { audience: 'prod' }),
      Promise.resolve(withoutTarget),
      Promise.resolve(afterEnd),
      exchange(token(), { audience: '' }),
      exchange(token(), { client_id: '' }),
      exchange(token(), { client_id: trust.metadata.name }),
      exchange('Bad credentials'),
      exchange(token({ groups: Array(1000).fill('') })),
      exchange(token({ aud: [server.base, 'https://other.example'] })),
    ]
    expect(await Promise.all(refused.map(refusalOf))).toEqual(textsBelow('text \\| cause and response'))
  })

  test('has the texts of refused trusts', async () => {
    platform = await startPlatform(server, [provider, trust], 'github.environment')
    const tenant = { claim: 'repository_id', values: ['74'] }
    const refused: object[] = [
      { claims: [{ claim: 'environment', values: ['production'] }] },
      { claims: [{ claim: 'repository', values: ['octo-org/shop'] }] },
      { claims: [{ claim: 'repository_id', patterns: ['7*'] }] },
      { claims: [{ claim: 'repository_id', values: [74] }] },
      { claims: [{ claim: 'repository_id', values: ['octo-org/shop'] }] },
      { claims: [{ claim: 'ref', patterns: ['*main'] }, tenant] },
      { identityProvider: 'unknown' },
    ]
    const answers = refused.map(async (spec) => {
      const body = { ...trust, metadata: { name: 'refused' }, spec: { ...trust.spec, ...spec } }
      const { status, json } = await server.post('/apis/management.platform/v1/federatedidentitycredentials', body)
      return [status, json.message] as const
    })
    const texts = textsBelow('text \\| response')
    expect(texts).toHaveLength(refused.length)
    for (const [index, [status, message]] of (await Promise.all(answers)).entries()) {
      const parts = (texts[index] ?? '').split('…').map((part) => part.trim())
      expect([status, message]).toEqual([422, expect.stringMatching(partsInOrder(parts))])
    }
  })

  test('names claims that the tokens of the platforms have', async () => {
    const known = new Set((await readIdTokenShapes()).flatMap(({ claims }) => Object.keys(claims)))
    const pages = await Promise.all(
      [PLATFORMS, PODS, OTHERS].map((name) => readFile(new URL(`../../${name}`, import.meta.url), 'utf8')),
    )
    const tables = pages.flatMap((text) => [...text.matchAll(/^\| claim \| says \|\n\|[-|]+\|\n((?:\|.*\n)+)/gm)])
    const named = tables.flatMap(([, rows = '']) => [...rows.matchAll(/^\| (`[^|]+`) \|/gm)])
    const claims = named.flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, claim = '']) => claim))
    expect(claims.length).toBeGreaterThan(20)
    expect(claims.filter((claim) => !known.has(claim))).toEqual([])
  })
})

const partsInOrder = (parts: readonly string[]): RegExp =>
  new RegExp(parts.map((part) => RegExp.escape(part)).join('.*'))
