/** Revocations while calls of the table fail in every way: the answers must be true, and a repetition must finish. */
import { expect, test } from 'vitest'
import { randomFrom } from '../lib/engine/storage/adversary/simulation.ts'
import { useBadNetwork } from '../support/badserver.ts'
import { seed } from '../support/effort.ts'
import { namesOf, revokingOn } from '../support/revocations.ts'

const { server, network, clear } = useBadNetwork(randomFrom(seed), { MAX_KEYS_PER_OWNER: '0' })
const { revoke, make, get } = revokingOn(() => server)

const names = Array.from({ length: 40 }, (_, index) => `key-${String(index).padStart(2, '0')}`)
const spec = { selector: { matchLabels: { run: 'faults' } } }

test('every key is disabled once, whatever the table answers, and no answer claims more', async () => {
  for (const name of names) await make(name, {}, { labels: { run: 'faults' } })
  network.weather = { share: 0.25, faults: ['throttled', 'lost', 'unanswered', 'conflict', 'broken'] }
  const codes: number[] = []
  let done = 0
  for (let left = names.length; left > 0 && codes.length < 30; ) {
    const answer = await revoke(spec)
    codes.push(answer.status)
    if (answer.status !== 201) continue
    const { status } = answer.json
    expect(status.done + status.failed).toBeLessThanOrEqual(status.matched)
    expect(namesOf(answer)).toHaveLength(status.matched)
    done += status.done
    left = status.matched - status.done
  }
  clear()
  expect(codes).toContain(201)
  expect(done).toBeLessThanOrEqual(names.length)
  for (const name of names) {
    const { metadata, spec } = await get(name)
    expect([name, spec.disabled, metadata.generation]).toEqual([name, true, 2])
  }
})
