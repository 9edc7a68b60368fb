/** Tests what a process writes of the refusals of trials while the table fails. */
import { expect, test } from 'vitest'
import { createTrialRecorder } from '../../../../lib/authentication/usage/trials.ts'
import { parseSpaceNamespace } from '../../../../lib/authorization/scopes/space.ts'

test('a refusal that cannot be written fails nothing, and is tried again after a pause, so that no request waits for it again and again', async () => {
  const world = { now: Date.parse('2026-11-26T10:00:00Z'), fails: true }
  const calls: string[] = []
  const recorder = createTrialRecorder({
    scopes: { projectNamespacePrefix: 'p-', spaceNamespace: parseSpaceNamespace('p-{project}-s-{space}') },
    now: () => world.now,
    signal: async () => void calls.push('signal'),
    failed: () => void calls.push('failed'),
    storage: {
      async mergeCompanion() {
        if (world.fails) throw new Error('throttled')
        calls.push('written')
        return true
      },
    },
  })
  const second = world.now / 1000
  const trial = { of: { name: 'ci', uid: 'u-1' }, scope: {}, since: second, until: second + 3600 }
  const refuse = async (since = second) => {
    const warnings = await recorder.wouldRefuse([{ ...trial, since }], { request: 'get of pods' }, { uid: 'u-1' })
    return [warnings.length, ...calls.splice(0)]
  }
  expect([await refuse(), await refuse()]).toEqual([[1, 'failed'], [1]])
  world.fails = false
  expect(await refuse()).toEqual([1])
  world.now += 10_000
  expect([await refuse(), await refuse()]).toEqual([[1, 'written', 'signal'], [1]])
  expect(await refuse(second + 1)).toEqual([1, 'written', 'signal'])
})
