/** Tests which events follow from changes of keys. */
import { describe, expect, test } from 'vitest'
import { sweepExpired } from '../../../../lib/keys/expirysweep.ts'
import { endless } from '../../../support/deadlines.ts'
import { newWorld } from '../../engine/controllers/world.ts'
import { changeInternal, hash, publisherOf } from './publisher.ts'

const day = 86_400
const start = Date.parse('2026-11-21T00:00:00Z')

/** A world at a time that tests move, its publisher, and what it says about one change. */
async function begin(limits = {}) {
  const clock = { at: 0 }
  const world = await newWorld({
    now: () => new Date(start + clock.at * 1000),
    tableNow: () => start + clock.at * 1000,
    limits,
  })
  const publisher = publisherOf(world, limits)
  return { clock, world, publisher, news: publisher.news }
}

// threat: events-1
test('a new key is an event with what is known about it, and nothing else', async () => {
  const { world, publisher } = await begin()
  const annotations = { note: 'an-annotation' }
  const spec = {
    user: 'alice',
    displayName: 'CI of the shop',
    description: 'a-description',
    ttl: 3600,
    scope: { projects: [{ project: 'a-project' }] },
  }
  const { metadata } = await world.make('ci', { labels: { team: 'shop' }, annotations }, spec)
  await publisher.run()
  expect(publisher.events).toEqual([
    {
      specversion: '1.0',
      id: expect.stringMatching(/^[\w-]{43}$/),
      source: 'https://issuer.example.com',
      type: 'platform.management.accesskey.created.v1',
      subject: 'ownedaccesskeys/ci',
      time: '2026-11-21T00:00:00Z',
      datacontenttype: 'application/json',
      data: {
        name: 'ci',
        uid: metadata.uid,
        owner: 'alice',
        user: 'alice',
        type: '',
        displayName: 'CI of the shop',
        labels: { team: 'shop' },
        scoped: true,
        phase: 'Active',
        expirationTimestamp: '2026-11-21T01:00:00Z',
        actor: { user: 'admin' },
      },
    },
  ])
  const text = JSON.stringify(publisher.events)
  const { pk } = await world.credential('ci')
  for (const secret of ['an-annotation', 'a-description', 'a-project', pk.split('#')[2]])
    expect(text).not.toContain(secret)
})

test('many labels are left out, because events have a size limit', async () => {
  const { world, news } = await begin()
  const labels = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`label-${index}`, 'x'.repeat(60)]))
  await world.make('ci', { labels })
  expect(await news('labels', 'labelsOmitted')).toEqual([['created ci', undefined, true]])
})

test('a long text is cut between two characters', async () => {
  const { world, news } = await begin()
  const text = 'x'.repeat(1023)
  await world.make('ci', {}, { displayName: `${text}👍` })
  expect(await news('displayName')).toEqual([['created ci', text]])
})

test('a change names its fields, and a status is not a change', async () => {
  const { world, news } = await begin()
  await world.make('ci', {}, { ttl: day })
  await news()
  await world.change('ci', (object) => ({ ...object, spec: { ttl: 2 * day, displayName: 'CI' } }))
  await world.change('ci', ({ metadata, ...object }) => ({ ...object, metadata: { ...metadata, labels: { a: 'b' } } }))
  await world.change('ci', (object) => ({ ...object, status: { ...object.status } }))
  expect(await news('fields')).toEqual([
    ['changed ci', ['spec.displayName', 'spec.ttl']],
    ['changed ci', ['metadata.labels']],
  ])
})

test('disabling and deleting a key revoke it; enabling it is a change', async () => {
  const { world, news } = await begin()
  await world.make('ci')
  await news()
  const disable = (disabled: boolean, more = {}) =>
    world.change('ci', (object) => ({ ...object, spec: { ...object.spec, ...more, disabled } }))
  await disable(true)
  await disable(true, { displayName: 'off' })
  await disable(false)
  await disable(true, { displayName: 'off again' })
  await world.delete('ci')
  expect(await news('how', 'fields')).toEqual([
    ['revoked ci', 'Disabled', undefined],
    ['changed ci', undefined, ['spec.displayName']],
    ['changed ci', undefined, ['spec.disabled']],
    ['revoked ci', 'Disabled', undefined],
    ['changed ci', undefined, ['spec.displayName']],
    ['revoked ci', 'Deleted', undefined],
  ])
})

test('a key that finalizers keep is revoked when it is marked, once', async () => {
  const { world, publisher, news } = await begin()
  await world.make('ci', { finalizers: ['example.com/hold'] })
  await news()
  await world.delete('ci')
  await world.change('ci', ({ metadata, ...object }) => ({ ...object, metadata: { ...metadata, finalizers: [] } }))
  expect([await news('how'), await world.find('ci')]).toEqual([[['revoked ci', 'Deleted']], undefined])
  const ids = publisher.events.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
})

test('a deletion by the sweep names it, after the expiry that no hour had told of', async () => {
  const { clock, world, news } = await begin()
  await world.make('ci', {}, { ttl: 60 })
  await news()
  clock.at = 3600
  await sweepExpired({
    store: world.keys,
    storage: world.storage,
    now: world.now,
    retentionSeconds: { exchanged: 0, others: 0 },
    limits: {},
    hasTime: () => true,
    deadline: endless,
    maxDeletions: 10,
  })
  expect(await news('how', 'actor')).toEqual([
    ['expired ci', undefined, { user: 'system:controller:expiry-sweep' }],
    ['revoked ci', 'Deleted', { user: 'system:controller:expiry-sweep' }],
  ])
})

describe('values', () => {
  test('a pending value is the start of a rotation, and settling it is not an event', async () => {
    const { world, news } = await begin()
    await world.make('ci')
    await news()
    const pending = { credential: hash('two'), number: 2, made: 7, overlap: 60 }
    await changeInternal(world, 'ci', (internal) => ({ ...internal, pending }))
    expect(await news('value', 'overlapSeconds')).toEqual([['rotation-started ci', 2, 60]])
    await changeInternal(world, 'ci', ({ pending: _, ...internal }) => ({
      ...internal,
      credential: hash('two'),
      value: { number: 2, made: 7 },
      retiring: { credential: internal.credential, number: 1, made: 1, until: 9 },
    }))
    await changeInternal(world, 'ci', ({ retiring: _, ...internal }) => internal)
    expect(await news()).toEqual([])
  })

  test('a second rotation with the same write that settles the first one starts, too', async () => {
    const { world, news } = await begin()
    await world.make('ci')
    await changeInternal(world, 'ci', (internal) => ({
      ...internal,
      pending: { credential: hash('two'), number: 2, made: 7, overlap: 0 },
    }))
    await news()
    await changeInternal(world, 'ci', (internal) => ({
      ...internal,
      credential: hash('two'),
      value: { number: 2, made: 7 },
      pending: { credential: hash('three'), number: 3, made: 8, overlap: 5 },
    }))
    expect(await news('value', 'fields')).toEqual([['rotation-started ci', 3, undefined]])
  })

  // threat: rotation-13
  test('a rotation that replaces an unused pending value', async () => {
    const { world, news } = await begin()
    await world.make('ci')
    const pending = { credential: hash('two'), number: 2, made: 7, overlap: 60 }
    await changeInternal(world, 'ci', (internal) => ({ ...internal, pending }))
    await news()
    const next = { ...pending, credential: hash('three'), number: 3 }
    await changeInternal(world, 'ci', (internal) => ({ ...internal, pending: next }))
    expect(await news('value')).toEqual([
      ['rotation-started ci', 3],
      ['rotation-replaced ci', 2],
    ])
  })

  test('a value that is replaced at once, and a rotation that is ended, are changes', async () => {
    const { world, news } = await begin()
    await world.make('ci')
    const pending = { credential: hash('two'), number: 2, made: 7, overlap: 60 }
    await changeInternal(world, 'ci', (internal) => ({ ...internal, pending }))
    await news()
    await changeInternal(world, 'ci', ({ pending: _, ...internal }) => internal)
    await changeInternal(world, 'ci', (internal) => ({ ...internal, credential: hash('other') }))
    expect(await news('fields')).toEqual([
      ['changed ci', ['status.values']],
      ['changed ci', ['spec.key']],
    ])
  })
})

test('the expiry of a key in use is left out where its last activity is not known', async () => {
  const { clock, world, news } = await begin()
  await world.make('ci', {}, { ttl: 60, ttlAfterLastActivity: true })
  clock.at = 3600
  await world.change('ci', (object) => ({ ...object, spec: { ...object.spec, displayName: 'CI' } }))
  expect(await news('phase', 'expirationTimestamp')).toEqual([
    ['created ci', 'Active', undefined],
    ['changed ci', 'Active', undefined],
  ])
})
