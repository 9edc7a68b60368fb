/**
 * Functions of both releases answer the requests of one client in turn, at random, while its keys are rotated. Run one sequence with
 * `SEED=1 npm run test:release -- test/release/mix.release.ts`.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accessKey, keys, management } from '../support/objects.ts'
import { newValue } from './keys.ts'
import { PAIRS, type Pair, type Releases, startReleases } from './releases.ts'

let releases: Releases
beforeAll(async () => {
  releases = await startReleases()
})
afterAll(() => releases?.stop())

type State = 'current' | 'pending' | 'retiring' | 'ended'
interface Value {
  value: string
  state: State
}
/** What is expected of a key. An overlap is either over at once or longer than the test. */
interface Expected {
  name: string
  values: Value[]
  overlap: number
  disabled: boolean
}

type Step =
  | { type: 'use' | 'write'; which: number }
  | { type: 'rotate'; overlap: number }
  | { type: 'finish' | 'change' | 'read' | 'replace' }
  | { type: 'switch'; disabled: boolean }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.nat(5).map((which): Step => ({ type: 'use', which })) },
  { weight: 4, arbitrary: fc.nat(5).map((which): Step => ({ type: 'write', which })) },
  { weight: 3, arbitrary: fc.constantFrom(0, 3600).map((overlap): Step => ({ type: 'rotate', overlap })) },
  { weight: 3, arbitrary: fc.constantFrom('change', 'read').map((type): Step => ({ type })) },
  { weight: 1, arbitrary: fc.constantFrom('finish', 'replace').map((type): Step => ({ type })) },
  { weight: 1, arbitrary: fc.boolean().map((disabled): Step => ({ type: 'switch', disabled })) },
)
const steps = fc.array(fc.tuple(step, fc.constantFrom(...PAIRS)), { minLength: 25, maxLength: 40 })

const has = ({ values }: Expected, state: State) => values.some((one) => one.state === state)
const turn = ({ values }: Expected, from: State, to: State) => {
  for (const one of values) if (one.state === from) one.state = to
}

/** Sends one request and compares its status with what the values of the key allow. */
async function take(key: Expected, one: Step, pair: Pair): Promise<void> {
  const at = `${keys}/${key.name}`
  const headers = { 'content-type': 'application/merge-patch+json', ...releases.by(pair) }
  const patch = (spec: object) => releases.call(at, { method: 'PATCH', body: { spec }, headers })
  const rotate = (spec: object) =>
    releases.call(`${at}/rotate`, {
      method: 'POST',
      body: { apiVersion: 'management.platform/v1', kind: 'OwnedAccessKeyRotation', spec },
      headers: releases.by(pair),
    })
  switch (one.type) {
    case 'use':
    case 'write': {
      const used = key.values[one.which % key.values.length]
      if (!used) throw new Error('no value')
      const token = used.value
      const description = `by ${pair.join(' and ')} with ${used.state}`
      const { status } =
        one.type === 'use'
          ? await releases.call(`${management}/selves`, { method: 'POST', body: {}, token, headers: releases.by(pair) })
          : await releases.call(at, { method: 'PATCH', body: { spec: { description } }, token, headers })
      const isValid = !key.disabled && used.state !== 'ended'
      const success = one.type === 'use' ? 201 : 200
      expect([one.type, used.state, status]).toEqual([one.type, used.state, isValid ? success : 401])
      if (isValid && used.state === 'pending') {
        turn(key, 'current', key.overlap === 0 ? 'ended' : 'retiring')
        used.state = 'current'
      }
      return
    }
    case 'rotate': {
      const { status, json } = await rotate({ overlapSeconds: one.overlap })
      const isOpen = has(key, 'pending') || has(key, 'retiring')
      expect(status).toBe(isOpen ? 409 : 201)
      if (isOpen) return
      key.values.push({ value: json.status.key, state: 'pending' })
      key.overlap = one.overlap
      return
    }
    case 'finish': {
      const { status } = await rotate({ finish: true })
      expect(status).toBeLessThan(500)
      if (status !== 201) return
      turn(key, 'pending', 'ended')
      turn(key, 'retiring', 'ended')
      return
    }
    case 'replace': {
      const value = newValue()
      expect((await patch({ key: value })).status).toBe(200)
      for (const old of key.values) old.state = 'ended'
      key.values.push({ value, state: 'current' })
      return
    }
    case 'change':
      expect((await patch({ description: `by ${pair.join(' and ')} ${key.values.length}` })).status).toBe(200)
      return
    case 'switch':
      expect((await patch({ disabled: one.disabled })).status).toBe(200)
      key.disabled = one.disabled
      return
    case 'read': {
      const { status, json } = await releases.call(at, { headers: releases.by(pair) })
      expect([status, json.spec.disabled ?? false]).toEqual([200, key.disabled])
      return
    }
  }
}

let count = 0

// threat: releases-2
test('a value works exactly as long as both releases together promise', async () => {
  const property = fc.asyncProperty(steps, async (sequence) => {
    const name = `mixed-${count++}`
    const { spec } = await releases.make(keys, accessKey(name, { user: 'alice' }))
    const key: Expected = { name, values: [{ value: spec.key, state: 'current' }], overlap: 0, disabled: false }
    for (const [one, pair] of sequence) await take(key, one, pair)
    for (const pair of PAIRS) {
      for (const which of key.values.keys()) await take(key, { type: 'use', which }, pair)
    }
  })
  await fc.assert(property, { numRuns: 12, seed: Number(process.env.SEED ?? 20261122), endOnFailure: true })
})
