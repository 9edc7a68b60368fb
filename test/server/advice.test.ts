/**
 * Tests advice and trials with random keys and every request that this API serves: what a key did stays allowed by the scope that is
 * advised, and a trial warns of exactly what the authorizer would refuse with its scope.
 */
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { validateScope } from '../../lib/authorization/scopes/validatescope.ts'
import { scope as anyScope } from '../lib/authorization/arbitraries.ts'
import { type AskedRequest, askedRequests, makeObjects } from '../support/askedrequests.ts'
import { runs } from '../support/effort.ts'
import { keys } from '../support/objects.ts'
import type { Answer } from '../support/request.ts'
import type { MadeKey } from '../support/server.ts'
import { useServer } from '../support/sharedserver.ts'

const server = useServer()
beforeAll(() => makeObjects(server))

const until = new Date(Date.now() + 86_400_000).toISOString().replace(/\.\d+/, '')
const scopes = anyScope.filter((scope) => validateScope(scope).length === 0)
const users = [{ user: 'alice' }, { user: 'root', groups: ['system:masters'] }, { team: 'red' }]
const holder = fc.constantFrom(...users)
const some = fc.uniqueArray(fc.constantFrom(...askedRequests), { minLength: 1, maxLength: 12 })

/** A key with role selfRotate must expire. */
const makeKey = (spec: object): Promise<MadeKey> => server.makeKey({ ttl: 3600, ...spec })
const send = ({ token }: MadeKey, { method, path, body, type }: AskedRequest): Promise<Answer> =>
  server.call(path, { method, token, body, ...(type && { headers: { 'content-type': type } }) })
/** Sends requests one after the other. Of many at once, each would wait for the others, and what it records would be late. */
async function sendAll(key: MadeKey, asked: readonly AskedRequest[]): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const one of asked) answers.push(await send(key, one))
  return answers
}
const statusesOf = async (key: MadeKey, asked: readonly AskedRequest[]) =>
  (await sendAll(key, asked)).map(({ status }) => status)
const isRefused = ({ status, json }: Answer) => status === 403 && json?.message?.includes('spec.scope does not allow')
/** A trial sees what the path of a request says, and not what it needs besides: to read a key, or a key that carries the scope. */
const NEEDS_MORE = /accesskey(revocations|lookups)|ownedaccesskeys\/\w+(\/|\?dryRun)|directclusterendpointtokens/
const isSeen = ({ path }: AskedRequest) => !NEEDS_MORE.test(path)
const isWarned = ({ headers }: Answer) => String(headers.warning ?? '').includes('that this access key tries')
const patch = ({ name }: MadeKey, operations: object[]) =>
  server.call(`${keys}/${name}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json-patch+json' },
    body: JSON.stringify(operations),
  })

test('what a key did has the same answers with the scope that is advised unless it says so and the trial warns, and what was refused stays so', async () => {
  let advised = 0
  const property = fc.asyncProperty(holder, fc.option(scopes), some, some, async (user, scope, did, other) => {
    const spec = { ...user, ...(scope && { scope }) }
    const [key, twin] = [await makeKey(spec), await makeKey(spec)]
    const before = await statusesOf(key, did)
    const { advice } = (await server.call(`${keys}/${key.name}/usage`)).json.status
    // On a busy machine, the store may be too slow to record everything.
    if (!advice.scope || server.log.some((line) => line.includes('usage not recorded'))) return
    advised++
    const trial = { op: 'add', path: '/spec/scopeTrial', value: { scope: advice.scope, until } }
    expect((await patch(key, [trial])).json).not.toHaveProperty('message')
    const during = await sendAll(key, did)
    expect(during.map(({ status }) => status)).toEqual(before)
    const isDoubted = advice.unknowns.some(({ message }: { message: string }) =>
      /^The key (reads|made tokens)/.test(message),
    )
    if (!isDoubted) expect(during.filter(isWarned)).toEqual([])
    const real = { op: 'add', path: '/spec/scope', value: advice.scope }
    const force = { op: 'add', path: '/spec/scopeTrial/force', value: true }
    expect((await patch(key, [real, force])).json).not.toHaveProperty('message')
    const after = await statusesOf(key, did)
    const changed = did.filter((one, index) => after[index] !== before[index] && isSeen(one))
    // A smaller scope refuses what the trial has warned of, and nothing else that it sees.
    expect(changed).toEqual(did.filter((one, index) => isWarned(during[index] as Answer) && isSeen(one)))
    for (const one of other) {
      if (isRefused(await send(twin, one))) expect([one, isRefused(await send(key, one))]).toEqual([one, true])
    }
  })
  await fc.assert(property, runs(150))
  expect(advised).toBeGreaterThan(0)
})

test('a trial warns of what its scope would refuse, and of nothing else', async () => {
  let warned = 0
  const property = fc.asyncProperty(holder, fc.option(scopes), scopes, some, async (user, scope, smaller, asked) => {
    const real = { ...user, ...(scope && { scope }) }
    const key = await makeKey({ ...real, scopeTrial: { scope: smaller, until } })
    const [plain, narrow] = [await makeKey(real), await makeKey({ ...user, scope: smaller })]
    for (const one of asked) {
      const [tried, allowed, refused] = await Promise.all([key, plain, narrow].map((holder) => send(holder, one)))
      if (!tried || !allowed || !refused) throw new Error('an answer is missing')
      const context = JSON.stringify([one, scope, smaller])
      expect([tried.status, context]).toEqual([allowed.status, context])
      if (isWarned(tried)) warned++
      if (isRefused(allowed)) expect([isWarned(tried), context]).toEqual([false, context])
      else if (isRefused(refused) && isSeen(one)) expect([isWarned(tried), context]).toEqual([true, context])
      // A role may give what the user has not.
      else if (!isWarned(tried) && allowed.status !== 403 && isSeen(one))
        expect([refused.status, context]).toEqual([allowed.status, context])
    }
  })
  await fc.assert(property, runs(75))
  expect(warned).toBeGreaterThan(0)
})
