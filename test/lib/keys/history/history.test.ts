/** Tests which entries the history of a key has, what they tell, and which of them are shown. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import { historyItem, readEntry, shownEntries } from '../../../../lib/keys/history/items.ts'
import { noticeAddress } from '../../../../lib/keys/history/newaddress.ts'

const at = Date.parse('2026-11-26T12:00:00Z') / 1000
const [minute, day] = [60, 86_400]
const item = (kind: string, seconds = 0, detail: JsonObject = {}) =>
  historyItem('u-1', { kind, at: at + seconds, detail }, `${kind} ${seconds}`)

describe('an entry', () => {
  // threat: events-10
  test('has what the event tells, and nothing else of it', () => {
    const actor = { user: 'alice', accessKey: 'ci', accessKeyUid: 'u-2', auditId: 'r-1' }
    const told = { fields: ['spec.ttl'], value: 2, ip: '192.0.2.1', userAgent: 'curl', url: 'https://example.com' }
    const about = { owner: 'alice', labels: { team: 'shop' }, scoped: true, phase: 'Active', displayName: 'CI' }
    const { detail } = readEntry(item('changed', 0, { ...told, ...about, actor })) ?? {}
    const { auditId: _, ...kept } = actor
    expect(detail).toEqual({ ...told, actor: kept })
  })

  test('leaves out names that are too long, since a part of one could be the name of another user', () => {
    const { detail } = readEntry(item('changed', 0, { actor: { user: 'a'.repeat(257), accessKey: 'ci' } })) ?? {}
    expect(detail).toEqual({ actor: { accessKey: 'ci' } })
  })

  test('is one item however often it is written, and expires 90 days after it happened', () => {
    expect(item('changed')).toEqual(item('changed'))
    expect(item('changed').attributes.expires).toBe(at + 90 * day)
    expect(item('changed').sk).not.toBe(item('changed', 1).sk)
  })

  test('in another form counts as nothing', () => {
    for (const attributes of [{}, { kind: 'changed' }, { kind: 1, at }, { kind: 'changed', at: 'now' }])
      expect(readEntry({ attributes })).toBeUndefined()
  })
})

describe('the entries that are shown', () => {
  const sorted = (items: ReturnType<typeof item>[]) => items.toSorted((one, other) => (one.sk < other.sk ? -1 : 1))
  const kindsOf = (items: ReturnType<typeof item>[]) => shownEntries(sorted(items)).map(({ kind }) => kind)

  test('are the newest first, and the creation last of its second', () => {
    expect(kindsOf([item('created'), item('changed'), item('leaked', 2), item('new-address', 1)])).toEqual([
      'leaked',
      'new-address',
      'changed',
      'created',
    ])
  })

  // threat: events-7
  test('are 50 at most, and no flood of one kind hides the creation or the others', () => {
    const flood = (kind: string) => Array.from({ length: 200 }, (_, n) => item(kind, minute + n))
    const groups = ['leaked', 'reused', 'source-refused', 'rotated', 'new-address', 'changed']
    const rare = ['created', ...groups].map((kind, at) => item(kind, at))
    for (const kind of groups) {
      const kinds = kindsOf([...rare, ...flood(kind)])
      expect([kinds.length, ...groups.filter((one) => !kinds.includes(one))]).toEqual([50])
      expect(kinds).toContain('created')
    }
    const all = groups.flatMap(flood)
    const shown = kindsOf([item('created'), ...all])
    expect(shown).toHaveLength(50)
    expect(shown.at(-1)).toBe('created')
    for (const kind of groups) expect(shown.filter((one) => one === kind).length).toBeGreaterThanOrEqual(7)
  })
})

describe('a new address', () => {
  const known = { uid: 'u-1', sources: [{ ip: '192.0.2.1', userAgent: 'curl', at }] }
  const notice = (ip: string, addresses?: JsonObject, when = at) =>
    noticeAddress({ ...known, ...(addresses && { addresses }) }, { ip, userAgent: 'curl\u0007/8' }, when)

  test('is one of a network that is not among the last ones', () => {
    expect(notice('192.0.2.1')).toBeUndefined()
    expect(notice('no address')).toBeUndefined()
    expect(readEntry(notice('198.51.100.7')?.item ?? item(''))).toEqual({
      kind: 'new-address',
      at,
      detail: { ip: '198.51.100.7', userAgent: 'curl/8' },
    })
  })

  test('is not the first one, of which the first use tells', () => {
    expect(noticeAddress({ uid: 'u-1' }, { ip: '192.0.2.1' }, at)).toBeUndefined()
  })

  test('is one entry for each network and day', () => {
    const [one, again] = ['2001:db8::1', '2001:db8::2'].map((ip, n) => notice(ip, undefined, at + n * minute)?.item)
    expect(one?.sk).toBe(again?.sk)
    expect(notice('2001:db8::1', undefined, at + day)?.item.sk).not.toBe(one?.sk)
  })

  // threat: events-7
  test('is told of five times a day', () => {
    let addresses: JsonObject | undefined
    const told = Array.from({ length: 20 }, (_, n) => {
      const noticed = notice(`198.51.100.${n}`, addresses)
      addresses = noticed?.addresses ?? addresses
      return noticed !== undefined
    })
    expect(told.filter(Boolean)).toHaveLength(5)
    expect(notice('203.0.113.1', addresses, at + day)).toBeDefined()
    for (const odd of [{ day: 'x' }, { day: Math.floor(at / day), count: -1 }])
      expect(notice('203.0.113.1', odd)?.addresses).toMatchObject({ count: 1 })
  })
})
