/** What a person has typed, over the end of a session. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { BrowserStorage } from '../../../clients/console/src/session/browserstorage.ts'
import {
  draftsOf,
  forgetDrafts,
  keepDraft,
  keptDraft,
  storeDrafts,
  takeDrafts,
} from '../../../clients/console/src/session/drafts.ts'
import type { Self } from '../../../clients/core/src/objects.ts'

let items: Map<string, string>
let storage: BrowserStorage
beforeEach(() => {
  forgetDrafts()
  items = new Map()
  storage = {
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, value) => void items.set(name, value),
    removeItem: (name) => void items.delete(name),
  }
})

const selfOf = (subject: string, self: Partial<Self> = {}): Self => ({
  subject,
  accessKey: 'ci',
  uid: '1',
  user: { name: subject },
  ...self,
})
const alice = selfOf('alice')

describe('drafts', () => {
  test('are those of one person, with any key', () => {
    draftsOf(alice).set('new-key', { name: 'ci' })
    expect(draftsOf(selfOf('alice', { accessKey: 'other', uid: '2' })).get('new-key')).toEqual({ name: 'ci' })
    expect(draftsOf(selfOf('bob')).size).toBe(0)
    expect(draftsOf(alice).size).toBe(0)
  })

  test('of a team are those of one key, which other members do not have', () => {
    const { user: _, ...team } = selfOf('team:shop', { team: { name: 'shop' } })
    draftsOf(team).set('new-key', { name: 'ci' })
    expect(draftsOf(team).size).toBe(1)
    expect(draftsOf({ ...team, uid: '2' }).size).toBe(0)
  })

  test.each([
    `mpk_${'a'.repeat(49)}`,
    'a token: eyJhbGciOiJFUzI1NiJ9.e30.x',
    '-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE',
    '{"keys":[{"kty":"EC","crv":"P-256","x":"x","y":"y","d" : "d"}]}',
  ])('have no secret: %s', (text) => {
    const drafts = draftsOf(alice)
    keepDraft(drafts, 'edit', { description: 'no secret' })
    expect(drafts.size).toBe(1)
    keepDraft(drafts, 'edit', { description: text })
    expect(drafts.size).toBe(0)
  })

  test('of another release of the console, with other members, are none', () => {
    const first = { name: '', rows: [] as string[] }
    const drafts = draftsOf(alice)
    for (const [draft, isKept] of [
      [{ name: 'ci', rows: ['a'], platform: 'GitHub' }, true],
      [{ name: 'ci' }, false],
      [{ name: 'ci', rows: {} }, false],
      [{ name: null, rows: [] }, false],
      [['ci'], false],
      ['ci', false],
      [null, false],
    ] as const) {
      drafts.set('new-key', draft)
      expect([draft, keptDraft(drafts, 'new-key', first) !== undefined]).toEqual([draft, isKept])
    }
    expect(keptDraft(drafts, 'edit', first)).toBeUndefined()
  })

  test('come back from the identity provider once', () => {
    draftsOf(alice).set('new-key', { name: 'ci' })
    storeDrafts(storage)
    forgetDrafts()
    takeDrafts(storage)
    expect([...draftsOf(alice)]).toEqual([['new-key', { name: 'ci' }]])
    expect(items.size).toBe(0)
  })
})

test.each(['{', '"text"', '{"owner":1,"forms":[]}', '{"owner":"alice","forms":{}}', '{"owner":"alice","forms":["a"]}'])(
  'what others have written in their place is no draft: %s',
  (text) => {
    items.set('keyplane-drafts', text)
    takeDrafts(storage)
    expect([draftsOf(alice).size, items.size]).toEqual([0, 0])
  },
)

test('without a draft nothing is stored', () => {
  draftsOf(alice)
  storeDrafts(storage)
  expect(items.size).toBe(0)
})
