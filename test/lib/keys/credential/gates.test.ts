import { describe, expect, test } from 'vitest'
import {
  deleteGate,
  findClosedGate,
  type GateState,
  type Gates,
  gateKeys,
  writeGate,
} from '../../../../lib/keys/credential/gates.ts'
import { parseFederation } from '../../../../lib/keys/credential/keyinternal.ts'

const federation = { trust: { uid: 't-1', revision: 3 }, provider: { uid: 'p-1', revision: 0 }, run: 'a run' }
const open = { revision: 3, disabled: false, deleted: false }
const trustGate = (change: Partial<GateState> = {}) => ({ attributes: { ...open, ...change } })
const providerGate = (change: Partial<GateState> = {}) => ({ attributes: { ...open, revision: 0, ...change } })

const find = (items: Gates) => findClosedGate(federation, items)

describe('findClosedGate', () => {
  const trust = 'the federated identity credential of the access key'
  const provider = 'the identity provider of the access key'

  test('returns undefined while both gates have the state of the exchange', () =>
    expect(find([trustGate(), providerGate()])).toBeUndefined())

  test.each([
    [[undefined, providerGate()], `${trust} has been deleted`],
    [[trustGate({ deleted: true, disabled: true }), providerGate()], `${trust} is being deleted`],
    [[trustGate({ disabled: true, revision: 4 }), providerGate()], `${trust} is disabled`],
    [
      [trustGate({ revision: 4 }), providerGate()],
      `${trust} has changed since the exchange: exchange another ID token`,
    ],
    [
      [trustGate({ revision: 2 }), providerGate()],
      `${trust} has changed since the exchange: exchange another ID token`,
    ],
    [[trustGate(), undefined], `${provider} has been deleted`],
    [[trustGate(), providerGate({ deleted: true })], `${provider} is being deleted`],
    [[trustGate(), providerGate({ disabled: true })], `${provider} is disabled`],
    [
      [trustGate(), providerGate({ revision: 1 })],
      `${provider} has changed since the exchange: exchange another ID token`,
    ],
    [[undefined, undefined], `${trust} has been deleted`],
    [[], `${trust} has been deleted`],
  ])('returns why the gates %j are closed', (items, reason) => expect(find(items)).toBe(reason))

  test('ignores members that this release does not know', () => {
    const later = { attributes: { ...open, more: 1 } }
    expect(find([later, providerGate()])).toBeUndefined()
    const disabled = { attributes: { ...later.attributes, disabled: true } }
    expect(find([disabled, providerGate()])).toBe(`${trust} is disabled`)
  })

  test('rejects a gate that this service cannot have written', () => {
    const { deleted: _, ...incomplete } = open
    for (const attributes of [
      incomplete,
      { ...open, crit: ['more'], more: 1 },
      { ...open, revision: '3' },
      { ...open, disabled: 0 },
    ]) {
      expect(() => find([{ attributes }, providerGate()])).toThrow(/a gate/)
    }
  })
})

describe('the gate items', () => {
  test('are written and deleted under the keys that are read', () => {
    const keys = gateKeys(federation)
    expect(writeGate('trust', 't-1', open)).toEqual({ op: 'set', ...keys[0], attributes: open })
    expect(writeGate('provider', 'p-1', open)).toEqual({ op: 'set', ...keys[1], attributes: open })
    const attributes = { ...open, ended: 7 }
    expect(writeGate('trust', 't-1', open, 7)).toEqual({ op: 'set', ...keys[0], attributes })
    expect(deleteGate('trust', 't-1')).toEqual({ op: 'delete', ...keys[0] })
    expect(deleteGate('provider', 'p-1')).toEqual({ op: 'delete', ...keys[1] })
  })

  test('of a trust and of a provider with one uid differ', () => {
    const same = { uid: 'x', revision: 1 }
    expect(gateKeys({ trust: same, provider: same })).toEqual([
      { pk: 'trust#x', sk: '#' },
      { pk: 'provider#x', sk: '#' },
    ])
  })
})

describe('parseFederation', () => {
  test('returns what is stored', () =>
    expect(parseFederation(JSON.parse(JSON.stringify(federation)))).toEqual(federation))

  test.each([
    undefined,
    'x',
    {},
    { trust: federation.trust },
    { ...federation, crit: ['more'], more: 1 },
    { ...federation, trust: { uid: 't-1' } },
    { ...federation, trust: { uid: '', revision: 1 } },
    { ...federation, provider: { uid: 'p-1', revision: -1 } },
    { ...federation, provider: { uid: 'p-1', revision: 1, crit: ['more'], more: 1 } },
  ])('rejects %j', (value) => expect(() => parseFederation(value)).toThrow(/federation/))
})
