import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../lib/engine/meta/types.ts'
import { decodeKeyInternal, encodeKeyInternal, type KeyInternal } from '../../../lib/keys/credential/keyinternal.ts'
import { readSignal, signalItem } from '../../../lib/keys/credential/signals.ts'
import { findValue, generationOf, valuesOf } from '../../../lib/keys/values/keyvalues.ts'
import { endLeaked, type MakingValue } from '../../../lib/keys/values/leak.ts'
import { finishRotation, replaceValues, startRotation, type ValueMaker } from '../../../lib/keys/values/rotation.ts'
import { settle } from '../../../lib/keys/values/settle.ts'
import { isTombstone, readTombstone, tombstoneAttributes } from '../../../lib/keys/values/tombstone.ts'
import { CREATED } from './keys.ts'

const [A, B, C, D] = ['a', 'b', 'c', 'd'].map((hash) => ({ version: '1', hash })) as [Hash, Hash, Hash, Hash]
type Hash = { version: string; hash: string }
const plain: KeyInternal = { creator: 'user:admin', carried: [], credential: A }
const rotate = (internal: KeyInternal, credential = B, overlap = 60, by: ValueMaker = 'other') =>
  startRotation(internal, { credential, made: CREATED + 10, hint: 'abcdef', overlap, by }, CREATED).internal
const USED = CREATED + 20
const used = (now = USED) => settle(rotate(plain), { firstUsed: USED }, now).internal
const states = (internal: KeyInternal) =>
  valuesOf(internal).map(({ state, credential }) => `${state} ${credential.hash}`)

describe('the internal part of a key', () => {
  test.each([
    plain,
    rotate(plain),
    used(),
    { ...plain, ended: 'leaked' as const, leak: { at: 6, url: 'https://a.example/x' }, tokensNotBefore: 7 },
  ])('is read as it was written: %o', (internal) =>
    expect(decodeKeyInternal(JSON.parse(JSON.stringify(encodeKeyInternal(internal))))).toEqual(internal),
  )

  test('has no new members for a key that was never rotated', () =>
    expect(Object.keys(encodeKeyInternal(plain))).toEqual(['creator', 'carried', 'credential']))

  test.each<[string, JsonObject]>([
    ['ended', { ended: 'rotated' }],
    ['leak', { leak: true }],
    ['value', { value: { number: -1, made: 1 } }],
    ['value', { value: { number: 1, made: 1, hint: '' } }],
    ['pending', { pending: { number: 2, made: 1, credential: { ...B } } }],
    ['pending', { pending: { number: 2, made: 1, overlap: 1 } }],
    ['retiring', { retiring: { number: 2, made: 1, credential: { version: '1' }, until: 3 } }],
    ['retiring', { retiring: 'b' }],
  ])('is refused with a wrong %s', (_, members) => {
    expect(() => decodeKeyInternal({ ...encodeKeyInternal(plain), ...members })).toThrow()
  })
})

describe('a rotation', () => {
  test('adds a pending value, of a generation of its own', () => {
    const internal = rotate(plain)
    expect(states(internal)).toEqual(['Current a', 'Pending b'])
    expect(internal.value).toEqual({ number: 1, made: CREATED })
    const facts = { number: 2, made: CREATED + 10, since: 2, hint: 'abcdef' }
    expect(internal.pending).toEqual({ ...facts, credential: B, overlap: 60 })
    expect(valuesOf(internal).map((value) => generationOf(value, 5))).toEqual([5, 6])
  })

  test('replaces an unused pending value, whose number is not given again', () => {
    const { internal, ended } = startRotation(
      rotate(plain),
      { credential: C, made: USED, overlap: 0, by: 'other' },
      CREATED,
    )
    expect(states(internal)).toEqual(['Current a', 'Pending c'])
    expect(internal.pending?.number).toBe(3)
    expect(ended).toEqual([{ credential: B, reason: 'replaced' }])
  })

  test('is not possible during an overlap', () => expect(() => rotate(used(), C)).toThrow('retiring'))
})

describe('settling', () => {
  test('changes nothing while the pending value is unused', () => {
    const internal = rotate(plain)
    expect(settle(internal, {}, USED + 1e6)).toEqual({ internal, ended: [], isPromoted: false })
  })

  test('makes a used value current and keeps the generation of both', () => {
    const { internal, ended, isPromoted } = settle(rotate(plain), { firstUsed: USED }, USED + 59)
    expect([states(internal), ended, isPromoted]).toEqual([['Current b', 'Retiring a'], [], true])
    expect(internal.retiring).toEqual({ number: 1, made: CREATED, credential: A, until: USED + 60, replaced: USED })
    expect(valuesOf(internal).map((value) => generationOf(value, 6))).toEqual([6, 5])
  })

  test('ends the old value in the first second after the overlap', () => {
    const ended = [{ credential: A, reason: 'rotated' }]
    expect(settle(rotate(plain), { firstUsed: USED }, USED + 60)).toMatchObject({ ended, isPromoted: true })
    const later = settle(used(), {}, USED + 60)
    expect(later).toMatchObject({ ended, isPromoted: false })
    expect(states(later.internal)).toEqual(['Current b'])
    expect(settle(used(), {}, USED + 59).ended).toEqual([])
  })

  test('brings nothing back that has leaked', () => {
    const leaked = endLeaked(rotate(plain), A, { at: USED })?.internal ?? plain
    expect(states(leaked)).toEqual(['Pending b'])
    const { internal, ended } = settle(leaked, { firstUsed: USED }, USED)
    expect([states(internal), internal.ended, internal.leak, ended]).toEqual([['Current b'], undefined, undefined, []])
    expect(internal.tokensNotBefore).toBe(USED + 30)
  })
})

describe('what a value has issued', () => {
  const ended = (internal: KeyInternal) => internal.tokensEnded

  test('lives while the value retires, and ends with it', () => {
    expect(ended(used())).toBeUndefined()
    expect(ended(settle(used(), {}, USED + 59).internal)).toBeUndefined()
    expect(ended(settle(used(), {}, USED + 60).internal)).toBe(USED)
    expect(ended(finishRotation(used()).internal)).toBe(USED)
  })

  test('ends at once without an overlap', () => {
    expect(ended(settle(rotate(plain, B, 0), { firstUsed: USED }, USED).internal)).toBe(USED)
  })

  test('lives on if the rotation is given up', () => {
    expect(ended(finishRotation(rotate(plain)).internal)).toBeUndefined()
  })

  test('stays dead after a later end', () => {
    const later = { ...used(), tokensEnded: USED + 5 }
    expect(ended(settle(later, {}, USED + 60).internal)).toBe(USED + 5)
    expect(ended(settle({ ...used(), tokensEnded: USED - 5 }, {}, USED + 60).internal)).toBe(USED)
  })

  test('is not known of a value that retired in an earlier version', () => {
    const { replaced: _, ...retiring } = used().retiring ?? { number: 1, made: 1, credential: A, until: USED + 60 }
    expect(ended(settle({ ...used(), retiring }, {}, USED + 60).internal)).toBeUndefined()
  })
})

describe('ending values', () => {
  test('a finish ends all but the current one', () => {
    expect(finishRotation(rotate(plain)).ended).toEqual([{ credential: B, reason: 'finished' }])
    const { internal, ended } = finishRotation(used())
    expect([states(internal), ended]).toEqual([['Current b'], [{ credential: A, reason: 'finished' }]])
  })

  test('a value at once ends all others', () => {
    const { internal, ended } = replaceValues(used(), { credential: D, made: USED, by: 'other' })
    expect(states(internal)).toEqual(['Current d'])
    expect(internal.value).toEqual({ number: 3, made: USED, since: 3 })
    expect(ended.map(({ credential: { hash }, reason }) => `${hash} ${reason}`)).toEqual(['b replaced', 'a replaced'])
    const first = replaceValues(plain, { credential: D, made: USED, by: 'other' }).internal
    expect(first).toEqual({ ...plain, credential: D })
  })

  test('a leak of the current value ends a retiring one too, and a leak of another one ends only that', () => {
    const current = endLeaked(used(), B, { at: USED })
    expect(states(current?.internal ?? plain)).toEqual([])
    expect(current?.ended.map(({ credential }) => credential.hash)).toEqual(['b', 'a'])
    expect(states(endLeaked(used(), A, { at: USED })?.internal ?? plain)).toEqual(['Current b'])
    expect(states(endLeaked(rotate(plain), B, { at: USED })?.internal ?? plain)).toEqual(['Current a'])
    expect(endLeaked(plain, B, { at: USED })).toBeUndefined()
    expect(endLeaked({ ...plain, ended: 'leaked' }, A, { at: USED })).toBeUndefined()
  })

  describe('by a report, with what the reported value made', () => {
    const first: ValueMaker = { number: 1 }
    const leak = (internal: KeyInternal, hash: Hash, ended?: MakingValue) => {
      const change = endLeaked(internal, hash, { at: USED }, ended)
      return [change?.ended.map(({ credential }) => credential.hash).join(' '), states(change?.internal ?? internal)]
    }
    const settled = (internal: KeyInternal) => settle(internal, { firstUsed: USED }, USED).internal
    /** B, made by A, is current, A retiring. */
    const taken = settled(rotate(plain, B, 60, first))
    /** C, made by B, is pending, and A has ended. */
    const further = startRotation(
      finishRotation(taken).internal,
      { ...next(), by: taken.value ?? 'other' },
      CREATED,
    ).internal

    function next() {
      return { credential: C, made: USED, overlap: 60 }
    }

    // threat: leaks-3
    test('whether that is pending, current or made by it in turn', () => {
      expect(leak(rotate(plain, B, 60, first), A)).toEqual(['a b', []])
      expect(leak(taken, A)).toEqual(['b a', []])
      expect(leak(further, A, { value: 1 })).toEqual(['b c', []])
      expect(leak(settled(further), A, { value: 1 })).toEqual(['c b', []])
      expect(leak(replaceValues(plain, { credential: D, made: USED, by: first }).internal, A, { value: 1 })).toEqual([
        'd',
        [],
      ])
    })

    // threat: leaks-4
    test('but not what another key made, what made it, or what an unused value could have made', () => {
      expect(leak(rotate(plain), A)).toEqual(['a', ['Pending b']])
      expect(leak(settled(rotate(plain)), A)).toEqual(['a', ['Current b']])
      expect(leak(further, C)).toEqual(['c', ['Current b']])
      expect(leak(further, D, { value: 2, unused: true })).toEqual([undefined, ['Current b', 'Pending c']])
      const owned = replaceValues(further, { credential: D, made: USED, by: 'other' }).internal
      for (const [hash, value] of [
        [A, 1],
        [B, 2],
        [C, 3],
      ] as const)
        expect(leak(owned, hash, { value })[0]).toBeUndefined()
      expect(leak(owned, A, {})[0]).toBeUndefined()
    })

    // threat: leaks-3
    test('and everything of which nothing is known', () => {
      const { since: _, ...facts } = taken.value ?? { number: 0, made: 0 }
      expect(leak({ ...taken, value: facts }, A)).toEqual(['b a', []])
      expect(leak({ ...finishRotation(taken).internal, value: facts }, A, {})).toEqual(['b', []])
      expect(leak(rotate(plain, B, 60, 'unknown'), A)).toEqual(['a b', []])
      expect(rotate({ ...plain, value: facts }, C, 0, facts).pending).not.toHaveProperty('since')
      expect(leak(plain, B, {})[0]).toBeUndefined()
    })
  })

  test('an ended value is no longer a value of the key', () => {
    expect(findValue({ ...plain, ended: 'leaked' }, A)).toBeUndefined()
    expect(findValue(used(), A)?.state).toBe('Retiring')
  })
})

describe('a tombstone', () => {
  const tombstone = { ended: 'rotated', name: 'ci', uid: 'u-1', user: 'alice', at: USED, firstUsed: USED } as const

  test('is removed after the retention, and never when the value has leaked', () => {
    const item = tombstoneAttributes(tombstone, 100)
    expect(item).toEqual({ ...tombstone, expires: USED + 100 })
    expect(readTombstone(item)).toEqual(item)
    expect(tombstoneAttributes({ ...tombstone, ended: 'leaked' }, 100)).not.toHaveProperty('expires')
  })

  test.each([{ ended: 'constructor' }, { ended: true }, { at: 'x' }, { user: '' }])('is refused as %o', (members) => {
    const item = { ...tombstone, ...members }
    expect(isTombstone(item)).toBe(true)
    expect(() => readTombstone(item)).toThrow('a tombstone')
  })
})

describe('a signal', () => {
  const signal = { kind: 'reused', name: 'ci', uid: 'u-1', at: CREATED, value: 2 } as const

  test('has one item for each kind, value and day', () => {
    const item = signalItem({ ...signal, ip: '192.0.2.1' }, { version: '1', hash: 'x'.repeat(43) })
    expect(item).toEqual({
      pk: 'signal#20261121',
      sk: `reused#${'x'.repeat(16)}`,
      attributes: { ...signal, ip: '192.0.2.1', expires: CREATED + 7 * 86_400 },
    })
    expect(readSignal(item.attributes)).toEqual({ ...signal, ip: '192.0.2.1' })
  })

  test('keeps no long texts of clients', () => {
    const { attributes } = signalItem(
      { ...signal, ip: 'i'.repeat(999), userAgent: 'u'.repeat(999), url: 'h'.repeat(9999) },
      A,
    )
    expect(JSON.stringify(attributes).length).toBeLessThan(1000)
  })

  test('of an unknown kind is refused', () =>
    expect(() => readSignal({ ...signal, kind: 'other' })).toThrow('a signal'))
})
