/** Tests how events are sent in batches, and again. */
import { describe, expect, test } from 'vitest'
import { type KeyEvent, toEvent } from '../../../../lib/keys/events/event.ts'
import { type BusEntry, publish } from '../../../../lib/keys/events/publish.ts'

const eventNamed = (name: string, data = {}): KeyEvent =>
  toEvent({ kind: 'changed', name, uid: 'u', at: 0, unique: name, data }, { source: 's', resource: 'keys' })

/** A bus that refuses some entries, and a publisher over it. */
function busThat(refuses: (entry: BusEntry, call: number) => string | undefined) {
  const calls: string[][] = []
  const accepted: string[] = []
  const pauses: number[] = []
  const bus = {
    async put(entries: readonly BusEntry[]) {
      const names = entries.map(({ detail }) => JSON.parse(detail).data.name as string)
      calls.push(names)
      return entries.map((entry, index) => {
        const code = refuses(entry, calls.length)
        if (code === undefined) accepted.push(names[index] ?? '')
        return code
      })
    },
  }
  const send = (events: readonly KeyEvent[]) => publish({ bus, sleep: async (ms) => void pauses.push(ms) }, events)
  return { calls, accepted, pauses, send }
}

test('sends at most ten events in a call, as CloudEvents', async () => {
  const seen: BusEntry[] = []
  const { calls, send } = busThat((entry) => void seen.push(entry))
  const events = Array.from({ length: 23 }, (_, index) => eventNamed(`k${index}`))
  await send(events)
  expect(calls.map(({ length }) => length)).toEqual([10, 10, 3])
  expect(seen[0]).toEqual({ source: 'keyplane', detailType: 'changed', detail: JSON.stringify(events[0]) })
})

test('sends fewer large events in a call', async () => {
  const { calls, send } = busThat(() => undefined)
  await send(Array.from({ length: 10 }, (_, index) => eventNamed(`k${index}`, { text: 'x'.repeat(50_000) })))
  expect(calls.map(({ length }) => length)).toEqual([4, 4, 2])
})

test('sends again exactly what was refused, after a growing pause', async () => {
  const { calls, accepted, pauses, send } = busThat(({ detail }, call) =>
    detail.includes('"k1"') && call < 3 ? 'ThrottlingException' : undefined,
  )
  await send([eventNamed('k0'), eventNamed('k1'), eventNamed('k2')])
  expect(calls).toEqual([['k0', 'k1', 'k2'], ['k1'], ['k1']])
  expect(accepted).toEqual(['k0', 'k2', 'k1'])
  expect(pauses).toEqual([200, 400])
})

describe('an event that is always refused', () => {
  const events = ['k0', 'k1', 'k2'].map((name) => eventNamed(name))
  const refusing = (code: string, name = '') =>
    busThat(({ detail }) => (detail.includes(`"${name}`) ? code : undefined))

  // threat: events-2
  test('skips what is refused permanently while others are accepted, and fails if none is', async () => {
    const { calls, accepted, send } = refusing('InternalFailure', 'k1')
    expect(await send(events)).toEqual([{ event: events[1], code: 'InternalFailure' }])
    expect([accepted, calls.length]).toEqual([['k0', 'k2'], 5])
    await expect(send(events.slice(1, 2))).rejects.toThrow('refused 1 events: InternalFailure')
    await expect(refusing('ValidationException').send(events)).rejects.toThrow('refused 3 events')
  })

  test('is sent again by the next run if the bus has no capacity', () =>
    expect(refusing('ThrottlingException', 'k1').send(events)).rejects.toThrow('refused 1 events: Throttling'))

  test('is passed over alone if the bus says that it is malformed', async () =>
    expect(await refusing('MalformedDetail').send(events)).toHaveLength(3))

  test('takes no others with it if it makes the whole call fail', async () => {
    const { accepted, send } = busThat((_, call) => (call < 5 || call === 6 ? 'ValidationException' : undefined))
    expect((await send(events)).map(({ event }) => event.data.name)).toEqual(['k1'])
    expect(accepted).toEqual(['k0', 'k2'])
  })
})

test('no event has half a character', async () => {
  const details: string[] = []
  const { send } = busThat(({ detail }) => void details.push(detail))
  await send([eventNamed('k0', { owner: 'a\ud83d', labels: { team: '\udc4d' } })])
  expect(details[0]).not.toMatch(/\\ud[89a-f]/)
})

test('an event has one id however often it is made, and another one for anything else', () => {
  const happening = { kind: 'changed', name: 'ci', uid: 'u', at: 7, unique: '1', data: {} } as const
  const idOf = (more = {}) => toEvent({ ...happening, ...more }, { source: 's', resource: 'r' }).id
  expect(idOf({ at: 8, data: { fields: ['a'] } })).toBe(idOf())
  const others = [{ kind: 'created' }, { uid: 'v' }, { unique: '2' }].map(idOf)
  expect(new Set([idOf(), ...others]).size).toBe(4)
})
