import { expect, test } from 'vitest'
import { gateCompanions } from '../../../lib/apis/management/v1/federation/gates.ts'

const read = ({ internal }: { internal: object }) =>
  internal as { revision: number; deleted: boolean; spec: { disabled?: boolean } }
const stored = (revision: number, disabled: boolean, deleted = false) => ({
  object: { apiVersion: 'v1', kind: 'Trust', metadata: { uid: 'u' } },
  internal: { revision, deleted, spec: { disabled } } as never,
})
const companions = gateCompanions('trust', read)
const keysOf = (...given: Parameters<typeof companions>) => companions(...given).map(({ pk, sk }) => `${pk} ${sk}`)

test('whatever closes a gate says in the same transaction that keys have ended', () => {
  const open = stored(1, false)
  const both = ['trust#u #', 'ending trust#u']
  expect(keysOf(stored(1, true), open)).toEqual(both)
  expect(keysOf(stored(2, false), open)).toEqual(both)
  expect(keysOf(stored(1, false, true), open)).toEqual(both)
  expect(keysOf(undefined, open)).toEqual(both)
  expect(keysOf(open, undefined)).toEqual(['trust#u #'])
  expect(keysOf(stored(1, false), open)).toEqual([])
})
