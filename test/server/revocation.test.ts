/**
 * Tests revocation: a request that begins after the answer to a change of its key never uses the earlier state of the key,
 * whatever happens concurrently.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import { getCompanion } from '../../lib/engine/storage/readcompanions.ts'
import { credentialItemKey } from '../../lib/keys/credential/credential.ts'
import { soak } from '../support/effort.ts'
import { accessKey, instance, instances, keys, management } from '../support/objects.ts'
import { type Answer, type Call, mergePatch } from '../support/request.ts'
import { useServer } from '../support/sharedserver.ts'

const server = useServer()
beforeAll(async () => {
  const host = 'vc.example.com'
  await server.make(instances('p-a'), instance('x', { owner: { user: 'alice' }, accessPoint: { ingress: { host } } }))
  await server.make(keys, accessKey('other', { user: 'alice' }))
})

const change = (name: string, spec: object): Promise<Answer> => server.patch(`${keys}/${name}`, { spec })
const self = (token: string): Promise<Answer> => server.post(`${management}/selves`, {}, token)
const value = (text: string): string => `value-of-${text}`.padEnd(40, '.')

let count = 0
const createKey = (metadata?: object) => server.makeKey({ user: 'alice' }, metadata)

/** Repeatable requests that the key allows. */
const uses: Record<string, (name: string) => [path: string, call: Call]> = {
  get: (name) => [`${keys}/${name}`, {}],
  list: () => [keys, {}],
  create: () => [keys, { method: 'POST', body: accessKey('', {}, { generateName: 'made-' }) }],
  patch: () => [`${keys}/other`, mergePatch({ metadata: { annotations: { at: `${++count}` } } })],
  delete: () => [`${keys}?fieldSelector=metadata.name%3Dnone`, { method: 'DELETE' }],
  token: () => [`${management}/directclusterendpointtokens`, { method: 'POST', body: {} }],
  kubeconfig: () => [`${instances('p-a')}/x/kubeconfig`, { method: 'POST', body: {} }],
}

const changes: [string, number, object, (name: string) => Promise<Answer>][] = [
  ['disabled', 401, {}, (name) => change(name, { disabled: true })],
  ['rotated', 401, {}, (name) => change(name, { key: value(name) })],
  ['narrowed', 403, {}, (name) => change(name, { scope: { projects: [{ project: 'other' }] } })],
  ['deleted', 401, {}, (name) => server.call(`${keys}/${name}`, { method: 'DELETE' })],
  [
    'deleted, and held by a finalizer',
    401,
    { finalizers: ['example.com/hold'] },
    (name) => server.call(`${keys}/${name}`, { method: 'DELETE' }),
  ],
]

// The soak tests play the pairs that `npm test` leaves out.
const played = soak ? changes.filter(([name]) => name !== 'disabled') : changes

describe.each(played)('a key that is %s', (name, refused, metadata, end) => {
  const pairs = Object.keys(uses).filter((use) => soak !== (use === 'get' || name === 'disabled'))
  // threat: use-1
  test.each(pairs)('is refused while it is used to %s', async (use) => {
    const { name, token } = await createKey(metadata)
    let isOver = false
    const after: number[] = []
    /** Uses the key continuously until three uses have begun after the change. */
    async function user(begun: () => void): Promise<void> {
      for (let late = 0; late < 3; ) {
        const began = isOver
        const [path, call] = uses[use]?.(name) ?? ['', {}]
        const { status } = await server.call(path, { ...call, token })
        if (began) after.push(status)
        if (began) late++
        begun()
      }
    }
    const ready: Promise<void>[] = []
    const users = [1, 2, 3].map(() => {
      const { promise, resolve } = Promise.withResolvers<void>()
      ready.push(promise)
      return user(resolve)
    })
    await Promise.all(ready)
    expect((await end(name)).status).toBe(200)
    isOver = true
    await Promise.all(users)
    expect(after).toEqual(Array.from({ length: 9 }, () => refused))
  })
})

// threat: use-8
test.each([
  ['deleted', (name: string) => server.call(`${keys}/${name}`, { method: 'DELETE' })],
  ['rotated', (name: string) => change(name, { key: value(name) })],
])('recording a use after the key was %s restores nothing', async (_, end) => {
  const { name, token } = await createKey()
  const { parts } = server
  const used = await parts.authenticate(token)
  expect((await end(name)).status).toBe(200)
  if (!('user' in used)) throw new Error('the key gives no access')
  await parts.admit(used, { isRecorded: true }, 'self')
  for (const hash of await parts.hashes(token)) {
    const { pk, sk } = credentialItemKey(hash)
    expect(await getCompanion(parts.storage, { pk, sk })).toBeUndefined()
  }
  expect((await self(token)).status).toBe(401)
})
