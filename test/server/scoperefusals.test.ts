/** Tests what refusals of scopes tell, through the gateway: the entry that they name allows the request. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hasSelfRotate } from '../../lib/authorization/scopes/roles.ts'
import type { Scope } from '../../lib/authorization/scopes/scope.ts'
import { validateScope } from '../../lib/authorization/scopes/validatescope.ts'
import { scope as anyScope } from '../lib/authorization/arbitraries.ts'
import { runs } from '../support/effort.ts'
import { accessKey, instances, keys, management } from '../support/objects.ts'
import type { Answer, Call } from '../support/request.ts'
import { useServer } from '../support/sharedserver.ts'

const server = useServer()

const merge = { 'content-type': 'application/merge-patch+json' }
const requests: readonly (readonly [path: string, call?: Call])[] = [
  [keys],
  [`${keys}/a`],
  [`${keys}?dryRun=All`, { method: 'POST', body: accessKey('new') }],
  [`${keys}/a/rotate?dryRun=All`, { method: 'POST', body: {} }],
  [`${management}/virtualclusterinstances`],
  [instances('p-a')],
  [`${instances('p-a')}/a`],
  [`${instances('p-a')}/a/status`],
  [`${instances('default')}/a`, { method: 'DELETE' }],
  [`${instances('p-b')}/a?dryRun=All`, { method: 'PATCH', headers: merge, body: {} }],
  [`${instances('p-b')}/a/kubeconfig?dryRun=All`, { method: 'POST', body: {} }],
  [`${management}/directclusterendpointtokens?dryRun=All`, { method: 'POST', body: {} }],
  ['/apis/authentication.k8s.io/v1/tokenreviews?dryRun=All', { method: 'POST', body: {} }],
  ['/api/v1/namespaces/p-a'],
]

/** Makes a key with the scopes: all but the last are inherited. Returns its value. */
async function holding(chain: readonly Scope[]): Promise<string> {
  let token = server.adminKey
  for (const scope of chain) token = (await server.makeKey({ user: 'alice', scope }, {}, token)).token
  return token
}

const isByScope = ({ status, json }: Answer): boolean =>
  status === 403 && / spec\.scope does not allow /.test(json.message)

/** Returns the entries in the causes of a refusal, the exact one first. */
const entriesOf = ({ json }: Answer): Scope[] =>
  (json.details.causes ?? []).map(({ message }: { message: string }) =>
    JSON.parse(message.split(' would allow it')[0] ?? ''),
  )

function plus(scope: Scope, entry: Scope): Scope {
  const lists = Object.entries(entry).map(([name, list]) => [
    name,
    [...((scope[name as keyof Scope] as unknown[]) ?? []), ...(list as unknown[])],
  ])
  return { ...scope, ...Object.fromEntries(lists) }
}

describe('a refusal of a scope', () => {
  test('names entries with which the scope allows the request', async () => {
    const valid = anyScope.filter((scope) => validateScope(scope).length === 0 && !hasSelfRotate(scope))
    let named = 0
    for (const scope of [{}, ...fc.sample(valid, runs(12))]) {
      const token = await holding([scope])
      await Promise.all(
        requests.map(async ([path, call]) => {
          const refused = await server.call(path, { ...call, token })
          if (!isByScope(refused)) return
          const entries = entriesOf(refused)
          expect([path, entries.length > 0]).toEqual([path, true])
          for (const entry of entries) {
            named += 1
            const answer = await server.call(path, { ...call, token: await holding([plus(scope, entry)]) })
            expect([path, entry, isByScope(answer)]).toEqual([path, entry, false])
            // Reviews are a right that only scopes give.
            if (path.includes('tokenreviews')) expect([entry, answer.status]).not.toEqual([entry, 403])
          }
        }),
      )
    }
    expect(named).toBeGreaterThan(20)
  }, 120_000)

  test('is a Warning for kubectl, which shows no causes', async () => {
    const token = await holding([{}])
    const ask = (agent: string) => server.call(`${keys}/a`, { token, headers: { 'user-agent': agent } })
    const { json, headers } = await ask('kubectl/v1.34.4 (linux/amd64) kubernetes/abcdef0')
    const [{ message }] = json.details.causes
    expect(headers.warning).toBe(`299 - "spec.scope: ${message.replaceAll('"', '\\"')}"`)
    expect((await ask('curl/8.5.0')).headers.warning).toBeUndefined()
  })
})
