/**
 * Tests advice and dry runs with random keys and every request that this API serves: what a key did stays allowed by the scope that is
 * advised, and a dry run of another scope warns if that would refuse something.
 */
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { validateScope } from '../../lib/access/scopes/validatescope.ts'
import { scope as anyScope } from '../lib/access/arbitraries.ts'
import { type AskedRequest, askedRequests, makeObjects } from '../support/askedrequests.ts'
import { runs } from '../support/effort.ts'
import { keys } from '../support/objects.ts'
import type { Answer } from '../support/request.ts'
import type { MadeKey } from '../support/server.ts'
import { useServer } from '../support/sharedserver.ts'

const server = useServer()
beforeAll(() => makeObjects(server))

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
/** Reports whether all requests since a line of the log were recorded. On a busy machine, the store may be too slow for some. */
const isRecorded = (since: number) => !server.log.slice(since).some((line) => line.includes('usage not recorded'))
const isRefused = ({ status, json }: Answer) => status === 403 && json?.message?.includes('spec.scope does not allow')
/** Advice sees what the path of a request says, and not what it needs besides: to read a key, or a key that carries the scope. */
const NEEDS_MORE = /accesskey(revocations|lookups)|ownedaccesskeys\/\w+(\/|\?dryRun)|directclusterendpointtokens/
const isSeen = ({ path }: AskedRequest) => !NEEDS_MORE.test(path)
/** Returns the merge patch that makes one scope of another. */
const replacing = (scope: object | null, next: object) => ({
  ...Object.fromEntries(Object.keys(scope ?? {}).map((list) => [list, null])),
  ...next,
})
const patch = ({ name }: MadeKey, operations: object[]) =>
  server.call(`${keys}/${name}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json-patch+json' },
    body: JSON.stringify(operations),
  })

test('what a key did has the same answers with the scope that is advised unless it says so, and what was refused stays so', async () => {
  let advised = 0
  const property = fc.asyncProperty(holder, fc.option(scopes), some, some, async (user, scope, did, other) => {
    const spec = { ...user, ...(scope && { scope }) }
    const logged = server.log.length
    const [key, twin] = [await makeKey(spec), await makeKey(spec)]
    const before = await statusesOf(key, did)
    const { advice } = (await server.call(`${keys}/${key.name}/usage`)).json.status
    if (!advice.scope || !isRecorded(logged)) return
    advised++
    expect((await patch(key, [{ op: 'add', path: '/spec/scope', value: advice.scope }])).json).not.toHaveProperty(
      'message',
    )
    const isDoubted = advice.unknowns.some(({ message }: { message: string }) =>
      /^The key (reads|made tokens)/.test(message),
    )
    const after = await statusesOf(key, did)
    const changed = did.filter((one, index) => after[index] !== before[index] && isSeen(one))
    if (!isDoubted) expect(changed).toEqual([])
    for (const one of other) {
      if (isRefused(await send(twin, one))) expect([one, isRefused(await send(key, one))]).toEqual([one, true])
    }
  })
  await fc.assert(property, runs(150))
  expect(advised).toBeGreaterThan(0)
})

test('a dry run of another scope warns of what it would refuse, and of nothing else', async () => {
  let warned = 0
  // The refusal of a path that is not served does not name the scope, and a review that is refused is a 201.
  const served = askedRequests.filter(
    (one) => isSeen(one) && !one.nothing && !/\/(token|subjectaccess)reviews/.test(one.path),
  )
  const few = fc.uniqueArray(fc.constantFrom(...served), { minLength: 1, maxLength: 3 })
  const property = fc.asyncProperty(holder, fc.option(scopes), scopes, few, async (user, scope, smaller, asked) => {
    const logged = server.log.length
    const key = await makeKey({ ...user, ...(scope && { scope }) })
    const did = await sendAll(key, asked)
    const path = `${keys}/${key.name}`
    const dry = await server.patch(`${path}?dryRun=All`, { spec: { scope: replacing(scope, smaller) } })
    if (!isRecorded(logged)) return
    const isWarned = String(dry.headers.warning ?? '').includes('the new scope would refuse')
    if (isWarned) warned++
    expect((await server.patch(path, { spec: { scope: replacing(scope, smaller) } })).status).toBe(200)
    const after = await sendAll(key, asked)
    const lost = asked.filter((_, at) => !isRefused(did[at] as Answer) && isRefused(after[at] as Answer))
    const context = JSON.stringify([asked, scope, smaller, lost, dry.headers.warning])
    if (lost.length > 0) expect([isWarned, context]).toEqual([true, context])
    // A narrower right, or the name of an object, may make no difference to these requests.
    else if (isWarned)
      expect([String(dry.headers.warning), context]).toEqual([expect.stringContaining('refuse some'), context])
  })
  await fc.assert(property, runs(200))
  expect(warned).toBeGreaterThan(0)
})
