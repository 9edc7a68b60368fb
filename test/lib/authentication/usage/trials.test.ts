/** Tests what a process writes of the refusals of trials, also while the table fails. */
import { expect, test } from 'vitest'
import { createTrialRecorder } from '../../../../lib/authentication/usage/trials.ts'
import { managementRequest } from '../../../../lib/authorization/attributes/attributes.ts'
import { parseSpaceNamespace } from '../../../../lib/authorization/scopes/space.ts'
import { KINDS } from '../../../../lib/kinds/kinds.ts'
import type { CompanionItem } from '../../../../lib/storage/interface.ts'

const world = (recordUsage: boolean) => {
  const state = { now: Date.parse('2026-11-26T10:00:00Z'), fails: true }
  const calls: string[] = []
  const recorder = createTrialRecorder({
    scopes: { projectNamespacePrefix: 'p-', spaceNamespace: parseSpaceNamespace('p-{project}-s-{space}') },
    recordUsage,
    now: () => state.now,
    signal: async () => void calls.push('signal'),
    failed: () => void calls.push('failed'),
    storage: {
      async writeCompanion(item) {
        if (state.fails) throw new Error('throttled')
        calls.push('when' in item ? 'mark' : 'entry')
        return item as CompanionItem
      },
    },
  })
  const second = state.now / 1000
  const refuse = async ({ since = second, uid = 'u-1', namespace = 'p-a' } = {}) => {
    const trial = { uid: 'u-1', scope: {}, since, until: second + 3600 }
    const attributes = managementRequest(KINDS.VirtualClusterInstance, { verb: 'list', namespace })
    const asker = { isMaster: false, key: { name: uid, uid } }
    const warnings = await recorder.tried([trial], {
      chain: [],
      attributes,
      real: { allowed: true, reason: '' },
      asker,
    })
    return [warnings.length, ...calls.splice(0).sort()]
  }
  return { state, refuse, second }
}

test('a refusal that cannot be written fails nothing, and is tried again after a pause, so that no request waits for it again and again', async () => {
  const { state, refuse, second } = world(false)
  expect([await refuse(), await refuse()]).toEqual([[1, 'failed'], [1]])
  state.fails = false
  expect(await refuse()).toEqual([1])
  state.now += 10_000
  expect([await refuse(), await refuse()]).toEqual([[1, 'mark', 'signal'], [1]])
  expect(await refuse({ since: second + 1 })).toEqual([1, 'mark', 'signal'])
})

test('a kind of request marks the trial once, and each key that makes it has an entry, of which each has its own limit', async () => {
  const { state, refuse } = world(true)
  state.fails = false
  expect(await refuse()).toEqual([1, 'entry', 'mark', 'signal'])
  expect(await refuse({ uid: 'u-2' })).toEqual([1, 'entry'])
  for (let at = 0; at < 40; at++) await refuse({ uid: 'u-3', namespace: `p-${at}` })
  expect(await refuse({ uid: 'u-3', namespace: 'p-other' })).toEqual([1])
  expect(await refuse({ uid: 'u-4', namespace: 'p-other' })).toEqual([1, 'entry'])
})
