import { expect, test } from 'vitest'
import { gateCompanions } from '../../../lib/federation/gates.ts'

const read = ({ internal }: { internal: object }) =>
  internal as { revision: number; deleted: boolean; spec: { disabled?: boolean } }
const stored = (revision: number, disabled: boolean, deleted = false) => ({
  object: { apiVersion: 'v1', kind: 'Trust', metadata: { name: 'ci', uid: 'u' } },
  internal: { revision, deleted, spec: { disabled } } as never,
})
const now = new Date('2026-11-29T00:00:00Z')
const companionsOf = (...[after, before]: Partial<Parameters<ReturnType<typeof gateCompanions>>>) =>
  gateCompanions('trust', read)(after, before, now)
const keysOf = (...given: Parameters<typeof companionsOf>) => companionsOf(...given).map(({ pk, sk }) => `${pk} ${sk}`)

test('whatever closes a gate says in the same transaction that keys have ended', () => {
  const open = stored(1, false)
  const both = ['trust#u #', `ending trust#u@${now.getTime() / 1000}`]
  expect(keysOf(stored(1, true), open)).toEqual(both)
  expect(keysOf(stored(2, false), open)).toEqual(both)
  expect(keysOf(stored(1, false, true), open)).toEqual(both)
  expect(keysOf(undefined, open)).toEqual(both)
  expect(keysOf(open, undefined)).toEqual(['trust#u #'])
  expect(keysOf(stored(1, false), open)).toEqual([])
  const [, ending] = companionsOf(stored(1, true), open)
  expect(ending).toMatchObject({ attributes: { what: 'trust#u', name: 'ci', at: now.getTime() / 1000 } })
  // What was issued until then stays dead, also after the gate was opened again.
  for (const [after, before] of [[stored(1, true), open] as const, [open, stored(1, true)] as const])
    expect(companionsOf(after, before)[0]).toMatchObject({ attributes: { ended: now.getTime() / 1000 } })
  expect(companionsOf(open, undefined)[0]).not.toHaveProperty('attributes.ended')
})
