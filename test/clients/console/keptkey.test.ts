/** What the console keeps in a tab, in browsers that forbid it and beside what others write there. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { BrowserStorage } from '../../../clients/console/src/session/browserstorage.ts'
import { formerKey, IDLE_MS, keepKey, keptKey } from '../../../clients/console/src/session/keptkey.ts'

const NOW = new Date('2026-11-22T12:00:00Z')
const seen = NOW.getTime()

describe('where the browser forbids sessionStorage', () => {
  beforeEach(() => {
    Object.defineProperty(globalThis, 'sessionStorage', {
      configurable: true,
      get() {
        throw new DOMException('The settings of the browser forbid it.', 'SecurityError')
      },
    })
  })
  afterEach(() => Reflect.deleteProperty(globalThis, 'sessionStorage'))

  test('a key is kept until the page ends', async () => {
    const { tabStorage } = await import('../../../clients/console/src/session/browserstorage.ts')
    keepKey(tabStorage, { key: 'k', seen })
    expect(keptKey(tabStorage, NOW)).toEqual({ key: 'k', seen })
  })
})

describe('a kept key', () => {
  test.each([
    ['of this moment', JSON.stringify({ key: 'k', seen }), 'k'],
    ['of before the idle time', JSON.stringify({ key: 'k', seen: seen - IDLE_MS }), undefined],
    ['of the future', JSON.stringify({ key: 'k', seen: seen + 1 }), undefined],
    ['without a time', '{"key":"k"}', undefined],
    ['without a key', JSON.stringify({ seen }), undefined],
    ['that is no text', JSON.stringify({ key: 1, seen }), undefined],
    ['that is no JSON', '{', undefined],
    ['that is no object', '"k"', undefined],
  ])('%s is read or forgotten', (_, text, key) => {
    const items = new Map([['keyplane', text]])
    const storage: BrowserStorage = {
      getItem: (name) => items.get(name) ?? null,
      setItem: (name, value) => void items.set(name, value),
      removeItem: (name) => void items.delete(name),
    }
    expect(keptKey(storage, NOW)?.key).toBe(key)
    expect(items.size).toBe(key === undefined ? 0 : 1)
  })
})

// threat: signin-10
test.each([
  ['of an exchange', { key: 'k', seen, ends: 1 }, 'k'],
  ['of an exchange, before the idle time', { key: 'k', seen: 0, ends: 1 }, 'k'],
  ['that is the next one', { key: 'next', seen, ends: 1 }, undefined],
  ['that somebody made and uses elsewhere', { key: 'k', seen }, undefined],
  ['that is no text', { key: 1, seen, ends: 1 }, undefined],
])('a key of the session before %s ends after the next sign-in, or stays', (_, kept, key) => {
  const storage: BrowserStorage = {
    getItem: () => JSON.stringify(kept),
    setItem: () => undefined,
    removeItem: () => undefined,
  }
  expect(formerKey(storage, 'next')?.key).toBe(key)
})
