/** Compares the tables of docs/federation.md and of the recipes with what the API and the tokens say. */
import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { objectsIn } from '../support/examples.ts'
import { revokePath, sendForm } from '../support/federation.ts'
import { type Platform, startPlatform, yamlOf } from '../support/federationpages.ts'
import { readIdTokenShapes } from '../support/idtokens.ts'
import { startServer, type TestServer } from '../support/server.ts'

const seconds = () => Math.floor(Date.now() / 1000)
/** When the deployment lost its table, in Unix seconds. */
const restored = seconds() - 200

/** What refused exchanges say, with what differs each time replaced. */
const TEXTS = [
  'the subject token is not accepted for this client_id',
  "claim environment is 'staging', which this client_id does not accept",
  "claim event_name is 'pull_request', which this client_id does not accept",
  'the subject token has no claim environment, which this client_id requires',
  'the subject token has expired (exp #, #ago): get it right before the exchange',
  'the subject token is not yet valid (iat #, #ahead)',
  'the subject token is too old (iat #, #ago, at most 600 s): get a new one from the issuer',
  'the subject token has been exchanged already: get a new one from the issuer',
  'the subject token has been exchanged for 50 access keys: use those, or get a new token from the issuer',
  'the subject token is valid for more than 24 hours: ask the issuer for a shorter one (GitLab: a shorter timeout of the job)',
  'the subject token is of a service account of Kubernetes, and its identity provider has the type OIDC: set spec.type: Kubernetes',
  'the subject token was issued before this service was restored: get a new one from the issuer',
  'this client_id may not have a token for clusters/prod, or it does not exist: see spec.scope of the FederatedIdentityCredential, and spec.access of the cluster',
  "audience 'prod' is not known; known forms are clusters/NAME, virtualclusters/PROJECT/NAME",
  'this client_id gives tokens of clusters only (spec.tokensOnly): set audience to clusters/NAME or virtualclusters/PROJECT/NAME',
  'the access of the subject token was ended: get a new one from the issuer',
  'the parameter audience is empty: leave it out, or give it a value',
  'the parameter client_id is missing or empty',
  'client_id must be NAME@UID of a FederatedIdentityCredential, which is its status.clientID',
  'the subject token is not a JWT',
  'the payload of the subject token has more than 1000 values',
  'aud of the subject token is not one audience: ask for a token for this API alone',
]

/** What refused trusts say. */
const TRUST_TEXTS = [
  'spec.claims: … signs for everyone: bind one of repository_id, repository_owner_id, enterprise_id to exact values',
  'spec.claims: … repository names something that others can take when it is given up; bind repository_id as well',
  'spec.claims[0].patterns: … repository_id takes exact values only',
  'spec.claims[0].values[0]: … must be of type string: "integer"',
  'spec.claims[0].values[0]: … repository_id is a string of digits',
  'spec.claims[0].patterns[0]: … must not begin with a wildcard',
  'spec.identityProvider: … not found',
]

let server: TestServer
let platform: Platform
beforeAll(async () => {
  server = await startServer({ REJECT_ID_TOKENS_BEFORE: String(restored) })
})
afterAll(() => server?.stop())
afterEach(() => platform?.stop())

describe('docs/federation.md', async () => {
  const page = await readFile(new URL('../../docs/federation.md', import.meta.url), 'utf8')
  const [provider, trust] = await yamlOf('docs/federation.md', 'The two objects')

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
      const pods = await startPlatform(server, await objectsIn('kubernetes/trust.yaml'), 'kubernetes.pod')
      const shared = pods.idToken()
      const again = () => pods.exchange(shared)
      await Promise.all(Array.from({ length: 50 }, again))
      return again().finally(pods.stop)
    }
    const podsWith = async (spec: object, act: (pods: Platform) => ReturnType<Platform['exchange']>) => {
      const [cluster, ofPods] = await objectsIn('kubernetes/trust.yaml')
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
      const pods = await startPlatform(server, await objectsIn('oidc/trust.yaml'), 'oidc.person')
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
    const texts = await Promise.all(refused.map(refusalOf))
    expect(texts).toEqual(TEXTS)
    const documented = textsBelow('text \\| what to do')
    expect(documented.length).toBeGreaterThan(2)
    expect(documented.filter((text) => !texts.includes(text))).toEqual([])
  })

  test('is about trusts whose refusals say which claim to bind', async () => {
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
    for (const [index, [status, message]] of (await Promise.all(answers)).entries()) {
      const parts = (TRUST_TEXTS[index] ?? '').split('…').map((part) => part.trim())
      expect([status, message]).toEqual([422, expect.stringMatching(partsInOrder(parts))])
    }
  })
})

test('the tables of docs/ci.md and docs/workloads.md name claims that the tokens of the platforms have', async () => {
  const known = new Set((await readIdTokenShapes()).flatMap(({ claims }) => Object.keys(claims)))
  const pages = await Promise.all(
    ['ci', 'workloads'].map((name) => readFile(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8')),
  )
  const tables = pages.flatMap((text) => [
    ...text.matchAll(/^\| (?:platform|issuer) \| bind \| know \|\n\|[-|]+\|\n((?:\|.*\n)+)/gm),
  ])
  const claims = tables.flatMap(([, rows = '']) =>
    rows
      .split('\n')
      .flatMap((row) => [...(row.split('|')[2] ?? '').matchAll(/`([^`]+)`/g)].map(([, claim = '']) => claim)),
  )
  expect(claims.length).toBeGreaterThan(20)
  expect(claims.filter((claim) => !known.has(claim))).toEqual([])
})

const partsInOrder = (parts: readonly string[]): RegExp =>
  new RegExp(parts.map((part) => RegExp.escape(part)).join('.*'))
