import { describe, expect, test } from 'vitest'
import { readSources, storedSources, withSource } from '../../../../lib/keys/credential/lastsources.ts'
import cases from './vectors/lastsources.cases.json' with { type: 'json' }

const source = (ip: string, at = 0, userAgent = 'curl/8.5.0') => ({ ip, userAgent, at })

describe('withSource', () => {
  test('puts the newest first and keeps five', () => {
    const all = ['1', '2', '3', '4', '5', '6'].map((last) => `192.0.2.${last}`)
    const list = all.reduce<ReturnType<typeof withSource>>((list, ip, at) => withSource(list, source(ip), at), [])
    expect(list).toEqual([
      source('192.0.2.6', 5),
      source('192.0.2.5', 4),
      source('192.0.2.4', 3),
      source('192.0.2.3', 2),
      source('192.0.2.2', 1),
    ])
  })

  test('has an address once, with its last client and time', () => {
    const list = [source('192.0.2.1', 1), source('192.0.2.2', 0)]
    expect(withSource(list, source('192.0.2.2', 0, 'kubectl'), 2)).toEqual([
      source('192.0.2.2', 2, 'kubectl'),
      source('192.0.2.1', 1),
    ])
  })

  test.each(cases.counted as [string, string, number][])('counts %s and %s as %s', (one, other, count) =>
    expect(withSource([source(one)], source(other), 1)).toHaveLength(count),
  )

  test.each(['', 'test-invoke-source-ip', '192.0.2.1, 192.0.2.2', '[::1]'])(
    'ignores %j, which is not an address',
    (ip) => {
      const list = [source('192.0.2.1')]
      expect(withSource(list, source(ip), 1)).toEqual(list)
    },
  )

  test('shortens the user agent', () =>
    expect(withSource([], source('192.0.2.1', 0, `a\n${'x'.repeat(70)}`), 0)).toEqual([
      source('192.0.2.1', 0, `a${'x'.repeat(63)}`),
    ]))

  test('has an empty text for a client that names none', () =>
    expect(withSource([], { ip: '192.0.2.1' }, 1)).toEqual([source('192.0.2.1', 1, '')]))
})

describe('readSources', () => {
  test('reads what is stored', () => {
    const list = [source('192.0.2.1', 1), source('::1', 0, '')]
    expect(readSources(storedSources(list))).toEqual(list)
  })

  test.each([
    [undefined],
    [null],
    ['text'],
    [{}],
    [[1, null, 'x', [], {}]],
    [[{ ip: '192.0.2.1' }]],
    [[{ ip: '', userAgent: '', at: 1 }]],
    [[{ ip: '192.0.2.1', userAgent: 1, at: 1 }]],
    [[{ ip: '192.0.2.1', userAgent: '', at: -1 }]],
  ])('is empty for %j', (value) => expect(readSources(value)).toEqual([]))

  test('reads at most five', () =>
    expect(readSources(Array.from({ length: 9 }, (_, at) => source('192.0.2.1', at)))).toHaveLength(5))
})
