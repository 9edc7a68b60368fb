/**
 * Tests rotations through the whole API while calls of the table fail and requests race: no value is lost, and none that
 * ended works again.
 */
import { describe, expect, test } from 'vitest'
import { randomFrom } from '../lib/engine/storage/adversary/simulation.ts'
import type { Weather } from '../support/badnetwork.ts'
import { useBadNetwork } from '../support/badserver.ts'
import { seed } from '../support/effort.ts'
import { keys } from '../support/objects.ts'
import { rotatingOn } from '../support/rotation.ts'

const random = randomFrom(seed)

const { server, network, clear } = useBadNetwork(random)
const { rotate, use, values } = rotatingOn(() => server)

async function createKey(): Promise<{ name: string; old: string; next: string }> {
  const { name, token: old } = await server.makeKey({ user: 'alice' })
  return { name, old, next: ownValue() }
}
let owned = 0
const ownValue = () => `own-value-${++owned}-`.padEnd(40, '.')

const WORKS = [201, undefined]
const ROTATED = [401, 'access key value was rotated']
const LEAKED = [401, 'access key value was reported as leaked']

const states = async (name: string) => (await values(name)).map(({ state }) => state)
const report = (value: string) => server.post('/leaks', { credentials: [value] }, '')
const enable = (name: string) => server.patch(`${keys}/${name}`, { spec: { disabled: false } })

test('64 first uses at once are one', async () => {
  const { name, old, next } = await createKey()
  await rotate(name, { key: next, overlapSeconds: 0 })
  const answers = await Promise.all(Array.from({ length: 64 }, () => use(next)))
  // DynamoDB lets one transaction of an item through at a time. Clients repeat a 503.
  for (const [status] of answers) expect([201, 503]).toContain(status)
  expect(answers.filter(([status]) => status === 201).length).toBeGreaterThan(0)
  expect(await use(next)).toEqual(WORKS)
  expect(await use(old)).toEqual(ROTATED)
  expect((await states(name)).at(0)).toBe('Current')
})

test(`jobs rotate a key over a network that fails a fifth of all calls (seed ${seed})`, async () => {
  const { name, old } = await createKey()
  let stored = old
  let isOver = false
  let rotations = 0
  const refused: unknown[] = []
  network.weather = { share: 0.2, faults: ['throttled', 'lost', 'unanswered', 'conflict', 'broken'] }
  /** Repeats a request until it has an answer that says what happened. */
  async function answered<T extends { status: number }>(send: () => Promise<T>): Promise<T> {
    for (;;) {
      const answer = await send()
      if (answer.status !== 429 && answer.status < 500) return answer
    }
  }
  const useOnce = async (token: string) =>
    answered(async () => {
      const [status, message] = await use(token)
      return { status, message }
    })
  async function job(): Promise<void> {
    for (let turn = 0; turn < 4; turn++) {
      const key = ownValue()
      const { status } = await answered(() => rotate(name, { key, overlapSeconds: 3600 }))
      if (status !== 201) continue
      stored = key
      const used = await useOnce(key)
      if (used.status !== 201) refused.push(['job', used])
      rotations++
      await answered(() => rotate(name, { finish: true }))
    }
  }
  async function consumer(): Promise<void> {
    while (!isOver) {
      const token = stored
      const used = await useOnce(token)
      // The job ends the overlap, so a value that is replaced while it is used may be refused.
      if (used.status !== 201 && token === stored) refused.push(['consumer', used])
    }
  }
  const consumers = [consumer(), consumer(), consumer()]
  await Promise.all([job(), job()])
  isOver = true
  await Promise.all(consumers)
  clear()
  expect(refused).toEqual([])
  expect(rotations).toBeGreaterThan(1)
  expect(await use(stored)).toEqual(WORKS)
})

test('a value that is reported while the key is rotated and used never works again', async () => {
  const outcomes = new Set<string>()
  for (let turn = 0; turn < 8; turn++) {
    const { name, old, next } = await createKey()
    await rotate(name, { key: next })
    await Promise.all([use(next), report(old), use(old), use(next), report(old)])
    expect(await use(old)).toEqual(LEAKED)
    outcomes.add(String((await use(next))[0]))
    await enable(name)
    expect(await use(old)).toEqual(LEAKED)
    expect(await use(next)).toEqual(WORKS)
  }
  for (const status of outcomes) expect(['201', '401']).toContain(status)
})

/** All writes of a request fail in this way. */
const weathers: Record<string, Weather> = {
  'is lost': { share: 1, faults: ['lost'], operations: ['TransactWriteItems'] },
  'gets no answer': { share: 1, faults: ['unanswered'], operations: ['TransactWriteItems', 'PutItem'] },
}

describe.each(Object.entries(weathers))('a transaction that %s', (_, weather) => {
  test('of a rotation leaves the old value, and the same request gives the new one', async () => {
    const { name, old, next } = await createKey()
    network.weather = weather
    const { status } = await rotate(name, { key: next })
    clear()
    expect([429, 503, 504]).toContain(status)
    expect(await use(old)).toEqual(WORKS)
    expect((await rotate(name, { key: next })).status).toBe(201)
    expect([await use(next), await use(old)]).toEqual([WORKS, WORKS])
    expect(await states(name)).toEqual(['Current', 'Retiring'])
  })

  test('of a first use allows nothing, and may be repeated', async () => {
    const { name, old, next } = await createKey()
    await rotate(name, { key: next, overlapSeconds: 0 })
    network.weather = weather
    const [status] = await use(next)
    clear()
    expect([500, 503]).toContain(status)
    expect(await use(next)).toEqual(WORKS)
    expect(await use(old)).toEqual(ROTATED)
  })
})
