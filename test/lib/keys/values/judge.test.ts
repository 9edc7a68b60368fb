/** Tests how values of a key are judged by their credentials, in every state of a rotation. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import type { TouchOutcome } from '../../../../lib/engine/storage/interface.ts'
import { generateAccessKey } from '../../../../lib/keys/credential/accesskey.ts'
import { type AuthenticationDeps, authenticate } from '../../../../lib/keys/requests/authenticate.ts'
import { confirmFirstUse, recordActivity, type Use } from '../../../../lib/keys/requests/uses.ts'
import { tombstoneAttributes } from '../../../../lib/keys/values/tombstone.ts'
import { CREATED, itemOf, storedKey } from '../keys.ts'
import cases from './vectors/judge.cases.json' with { type: 'json' }

const OLD = generateAccessKey(() => new Uint8Array(32).fill(1))
const NEW = generateAccessKey(() => new Uint8Array(32).fill(2))
const hashOf = (key: string) => ({ version: '1', hash: key })
const live = (spec: JsonObject = {}, more: JsonObject = {}): JsonObject => ({ ...itemOf(storedKey(spec)), ...more })
const opening = { successor: hashOf(NEW), overlap: 60 }
const pending = { pending: true, overlap: 60, value: 2, generation: 2 }
const ended = (reason: 'rotated' | 'finished' | 'replaced' | 'leaked', firstUsed?: number) =>
  tombstoneAttributes(
    { ended: reason, name: 'ci', uid: 'u-1', user: 'admin', at: CREATED, ...(firstUsed && { firstUsed }) },
    100,
  )

interface World {
  items: Record<string, JsonObject | undefined>
  /** Seconds after the creation. */
  at?: number
  activity?: number
  onRead?: (key: string, items: Record<string, JsonObject | undefined>) => void
  touch?: (use: Use, items: Record<string, JsonObject | undefined>) => TouchOutcome
}

function world({ items, at = 0, activity, onRead, touch }: World) {
  const log: unknown[] = []
  const deps: AuthenticationDeps = {
    hashes: async (key) => [hashOf(key)],
    readCredential: async ([hash]) => {
      const key = hash?.hash ?? ''
      onRead?.(key, items)
      log.push(key === OLD ? 'read old' : 'read new')
      const item = items[key]
      return item && hash ? { hash, item } : undefined
    },
    readActivity: async () => {
      log.push('activity')
      return activity
    },
    readGates: async () => [],
    now: () => (CREATED + at) * 1000,
    touch: async (use) => {
      log.push(use)
      return touch?.(use, items) ?? 'done'
    },
    signal: async ({ sk }) => void log.push(sk.split('#')[0]),
    touchFailed: (error) => log.push(error),
  }
  return { deps, log }
}

const key = { name: 'ci', uid: 'u-1', user: 'admin' }
async function alive(deps: AuthenticationDeps, token: string) {
  const result = await authenticate(token, deps)
  if (!('user' in result)) throw new Error(JSON.stringify(result))
  return result
}
const confirmed = async (deps: AuthenticationDeps) => confirmFirstUse((await alive(deps, NEW)).presented, deps)

describe('the old value', () => {
  const item = live({}, opening)

  test('is current while the new one is unused, and reads it', async () => {
    const { deps, log } = world({ items: { [OLD]: item, [NEW]: live({}, pending) } })
    expect((await alive(deps, OLD)).presented.judged).toMatchObject({ state: 'Current' })
    expect(log).toEqual(['read old', 'read new'])
  })

  test('is retiring after the first use of the new one, until the overlap has passed', async () => {
    const items = { [OLD]: item, [NEW]: live({}, { ...pending, firstUsed: CREATED + 10 }) }
    const { deps } = world({ items, at: 69 })
    const { presented, warnings } = await alive(deps, OLD)
    expect(presented.judged).toMatchObject({ state: 'Retiring', until: CREATED + 70 })
    expect(warnings.join()).toContain('was rotated and works until')
    const late = world({ items, at: 70 })
    expect(await authenticate(OLD, late.deps)).toEqual({ dead: 'access key value was rotated', key })
    expect(late.log).toEqual(['read old', 'read new', 'reused'])
  })

  test('that was settled works until its end, without reading the new one', async () => {
    const items = { [OLD]: live({}, { until: CREATED + 70, generation: 0 }) }
    const { deps, log } = world({ items, at: 69 })
    expect((await alive(deps, OLD)).presented.judged).toMatchObject({ state: 'Retiring', until: CREATED + 70 })
    expect(log).toEqual(['read old'])
    expect(await authenticate(OLD, world({ items, at: 70 }).deps)).toMatchObject({
      dead: 'access key value was rotated',
    })
  })

  test.each([
    ['is missing', undefined],
    ['has ended after its use', ended('leaked', CREATED + 1)],
    ['belongs to another key', live({}, { ...pending, uid: 'u-2' })],
  ])('is dead when the new one %s', async (_, next) => {
    const { deps } = world({ items: { [OLD]: item, [NEW]: next } })
    expect(await authenticate(OLD, deps)).toMatchObject({ dead: 'access key value was rotated' })
  })

  test('is read again when the new one was given up meanwhile', async () => {
    const { deps, log } = world({
      items: { [OLD]: item, [NEW]: live({}, pending) },
      onRead: (read, items) => {
        if (read !== NEW) return
        items[NEW] = ended('finished')
        items[OLD] = live()
      },
    })
    expect((await alive(deps, OLD)).presented.judged).toMatchObject({ state: 'Current' })
    expect(log).toEqual(['read old', 'read new', 'read old'])
  })

  test('is dead if its item permanently names a new one that was given up', async () => {
    const { deps } = world({ items: { [OLD]: item, [NEW]: ended('finished') } })
    expect(await authenticate(OLD, deps)).toMatchObject({ dead: 'access key value was rotated' })
  })

  test('that is deleted meanwhile is unknown, and no signal tells of it', async () => {
    const { deps, log } = world({
      items: { [OLD]: item, [NEW]: live({}, pending) },
      onRead: (read, items) => {
        if (read === NEW) items[OLD] = items[NEW] = undefined
      },
    })
    expect(await authenticate(OLD, deps)).toEqual({ unknown: true })
    expect(log).toEqual(['read old', 'read new', 'read old'])
  })

  test.each([
    [0, true],
    [29, true],
    [30, false],
  ])('makes writes depend on the new one with an overlap of %i s: %s', async (overlap, depends) => {
    const items = { [OLD]: live({}, { ...opening, overlap }), [NEW]: live({}, pending) }
    const { credential } = await alive(world({ items }).deps, OLD)
    expect('successor' in credential).toBe(depends)
  })
})

test.each([
  ['rotated', 'access key value was rotated'],
  ['finished', 'access key value was rotated'],
  ['replaced', 'access key value was replaced'],
  ['leaked', 'access key value was reported as leaked'],
] as const)('a value that ended as %s is refused, and a signal tells of it', async (reason, dead) => {
  const { deps, log } = world({ items: { [OLD]: ended(reason) } })
  expect(await authenticate(OLD, deps)).toEqual({ dead, key })
  expect(log).toEqual(['read old', 'reused'])
})

describe('a pending value', () => {
  const items = () => ({ [NEW]: live({ ttl: 1000 }, pending) })
  const use = {
    hash: hashOf(NEW),
    name: 'ci',
    uid: 'u-1',
    at: CREATED + 5,
    attributes: { firstUsed: CREATED + 5, expiryIndex: 'rotation', expiry: CREATED + 65 },
    same: { uid: 'u-1', generation: 2, pending: true, until: undefined, disabled: false, deleted: false },
    lacks: ['ended', 'firstUsed'],
    also: [expect.objectContaining({ sk: `rotated#${NEW.slice(0, 16)}` })],
  }

  test('is confirmed by its first use, which records nothing else', async () => {
    const { deps, log } = world({ items: items(), at: 5 })
    const { presented } = await alive(deps, NEW)
    expect(presented.judged.state).toBe('Pending')
    await recordActivity(presented, deps)
    expect(log).toEqual(['read new'])
    expect(await confirmFirstUse(presented, deps)).toBeUndefined()
    expect(log).toEqual(['read new', use])
  })

  test('that another request has confirmed is not confirmed again', async () => {
    const used = { ...pending, firstUsed: CREATED + 1, lastActivity: CREATED + 1 }
    const { deps, log } = world({ items: { [NEW]: live({}, used) }, at: 5 })
    const { presented } = await alive(deps, NEW)
    expect(presented.judged.state).toBe('Current')
    expect(await confirmFirstUse(presented, deps)).toBeUndefined()
    expect(log).toEqual(['read new'])
  })

  test('continues when the confirmation lost against another request', async () => {
    const { deps, log } = world({
      items: items(),
      at: 5,
      touch: (_, all) => {
        all[NEW] = live({}, { ...pending, firstUsed: CREATED + 5 })
        return 'busy'
      },
    })
    expect(await confirmed(deps)).toBeUndefined()
    expect(log).toEqual(['read new', use, 'read new'])
  })

  test('continues when another request has confirmed it during the last attempt', async () => {
    let attempts = 0
    const { deps } = world({
      items: items(),
      touch: (_, all) => {
        if (++attempts === 3) all[NEW] = live({}, { ...pending, firstUsed: CREATED + 5 })
        return 'busy'
      },
    })
    expect(await confirmed(deps)).toBeUndefined()
    expect(attempts).toBe(3)
  })

  test.each<[string, JsonObject | undefined, object]>([
    ['ended', ended('finished'), { dead: 'access key value was rotated' }],
    ['was disabled', live({ disabled: true }, { ...pending, generation: 3 }), { dead: 'access key is disabled' }],
    ['was deleted', undefined, { unknown: true }],
  ])('gives no access when it %s before the confirmation', async (_, after, refusal) => {
    const { deps } = world({
      items: items(),
      touch: (__, all) => {
        all[NEW] = after
        return 'refused'
      },
    })
    expect(await confirmed(deps)).toEqual(refusal)
  })

  test('is a 503 if the key is changed before the confirmation, so that the request is authorized again', async () => {
    const { deps } = world({
      items: items(),
      touch: (_, all) => {
        all[NEW] = live({}, { ...pending, generation: 3 })
        return 'refused'
      },
    })
    await expect(confirmed(deps)).rejects.toMatchObject({ status: { code: 503 } })
  })

  // threat: rotation-17
  test('is a 503 if its use cannot be recorded', async () => {
    const busy = world({ items: items(), touch: () => 'busy' })
    const failure = { status: { code: 503, details: { retryAfterSeconds: 1 } } }
    await expect(confirmed(busy.deps)).rejects.toMatchObject(failure)
    expect(busy.log.filter((one) => typeof one === 'object')).toHaveLength(3)
    const cause = new Error('unanswered')
    const dark = world({
      items: items(),
      touch: () => {
        throw cause
      },
    })
    await expect(confirmed(dark.deps)).rejects.toMatchObject({ ...failure, cause })
  })
})

describe('a sliding key', () => {
  const sliding = { ttl: 100, ttlAfterLastActivity: true }

  test.each<[string, JsonObject]>([
    ['pending', { pending: true, overlap: 60 }],
    ['used', { firstUsed: CREATED + 1, lastActivity: CREATED + 1 }],
    ['retiring', { until: CREATED + 1000 }],
    ['later', { value: 2, made: CREATED + 40, lastActivity: CREATED + 40 }],
  ])('lives on with a %s value while another one is used', async (_, more) => {
    const at = 150
    const used = world({ items: { [NEW]: live(sliding, more) }, at, activity: CREATED + 51 })
    expect((await alive(used.deps, NEW)).user.key.expires).toBe(CREATED + 151)
    expect(used.log).toEqual(['read new', 'activity'])
    const unused = world({ items: { [NEW]: live(sliding, more) }, at, activity: CREATED + 50 })
    expect(await authenticate(NEW, unused.deps)).toMatchObject({ dead: 'access key has expired' })
    const unknown = world({ items: { [NEW]: live(sliding, more) }, at })
    expect(await authenticate(NEW, unknown.deps)).toMatchObject({ dead: 'access key has expired' })
  })

  test('with one value reads nothing else', async () => {
    const { deps, log } = world({ items: { [NEW]: live(sliding) }, at: 150, activity: CREATED + 140 })
    expect(await authenticate(NEW, deps)).toMatchObject({ dead: 'access key has expired' })
    expect(log).toEqual(['read new'])
  })
})

test('a use of a value that is not current leaves the index alone', async () => {
  for (const more of [{ until: CREATED + 1000 }, { ...pending, firstUsed: CREATED }]) {
    const { deps, log } = world({ items: { [NEW]: live({ ttl: 500 }, more) }, at: 100 })
    await recordActivity((await alive(deps, NEW)).presented, deps)
    expect(log[1]).toMatchObject({ attributes: {}, lacks: expect.arrayContaining(['ended']) })
    expect(log[1]).not.toHaveProperty('also.0.sk', expect.stringContaining('rotated'))
  }
})

describe('the last second of which what was issued is dead', () => {
  test.each<[string, JsonObject, number | undefined]>([
    ['none', {}, undefined],
    ['that of the key', { tokensEnded: CREATED + 5 }, CREATED + 5],
    ['that of the first use of the value', { firstUsed: CREATED + 7, tokensEnded: CREATED + 5 }, CREATED + 7],
    ['that of the key after the first use', { firstUsed: CREATED + 3, tokensEnded: CREATED + 5 }, CREATED + 5],
    ['this one for the first use', { pending: true, overlap: 60 }, CREATED + 50],
  ])('is %s', async (_, more, lastEnd) => {
    const { user } = await alive(world({ items: { [NEW]: live({}, more) }, at: 50 }).deps, NEW)
    expect(user.key.lastEnd).toBe(lastEnd)
  })
})

describe('a key that is limited to addresses', () => {
  const limited = { [OLD]: live({}, { sourceCIDRs: ['10.0.0.0/8', '2001:db8::/32'] }) }

  test.each(['10.1.2.3', '::ffff:10.1.2.3', '2001:db8::7'])('may be used from %s', async (ip) => {
    expect(await authenticate(OLD, world({ items: limited }).deps, { ip })).toHaveProperty('user')
  })

  test.each([{ ip: '192.0.2.1' }, { ip: '' }, { ip: 'localhost' }, { ip: '10.1.2.3, 192.0.2.1' }, undefined])(
    'may not be used from %o',
    async (source) => {
      const { deps, log } = world({ items: limited })
      expect(await authenticate(OLD, deps, source)).toMatchObject({
        outside: `access key "ci" may not be used from ${source?.ip || 'an unknown address'}`,
        key,
        holder: { name: 'admin' },
      })
      expect(log).toEqual(source ? ['read old', 'source-refused'] : ['read old'])
    },
  )

  // threat: rotation-20
  test('is judged by its life first, and no refused use confirms a pending value', async () => {
    const dead = { [OLD]: { ...limited[OLD], disabled: true } as JsonObject }
    expect(await authenticate(OLD, world({ items: dead }).deps)).toMatchObject({ dead: 'access key is disabled' })
    const waiting = world({ items: { [NEW]: { ...limited[OLD], ...pending } as JsonObject } })
    expect(await authenticate(NEW, waiting.deps)).not.toHaveProperty('presented')
  })
})

test.each(cases.broken as [string, JsonObject][])(
  'an item with %s is an error, and gives no access',
  async (_, more) => {
    await expect(authenticate(OLD, world({ items: { [OLD]: live({}, more) } }).deps)).rejects.toThrow()
  },
)
