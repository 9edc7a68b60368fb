/** What a person has typed, over the end of a session. */
import { beforeEach, expect, test } from 'vitest'
import { draftsOf, forgetDrafts, storeDrafts, takeDrafts } from '../../../clients/console/src/session/drafts.ts'
import type { TabStorage } from '../../../clients/console/src/session/tabstorage.ts'

let items: Map<string, string>
let storage: TabStorage
beforeEach(() => {
  forgetDrafts()
  items = new Map()
  storage = {
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, value) => void items.set(name, value),
    removeItem: (name) => void items.delete(name),
  }
})

test('drafts are those of one person', () => {
  draftsOf('alice').set('new-key', { name: 'ci' })
  expect(draftsOf('alice').get('new-key')).toEqual({ name: 'ci' })
  expect(draftsOf('bob').size).toBe(0)
  expect(draftsOf('alice').size).toBe(0)
})

test('drafts come back from the identity provider once, without those that have a secret', () => {
  draftsOf('alice')
    .set('new-key', { name: 'ci' })
    .set('edit', { description: `is mpk_${'a'.repeat(49)}` })
  storeDrafts(storage)
  forgetDrafts()
  takeDrafts(storage)
  expect([...draftsOf('alice')]).toEqual([['new-key', { name: 'ci' }]])
  expect(items.size).toBe(0)
})

test.each(['{', '"text"', '{"owner":1,"forms":[]}', '{"owner":"alice","forms":{}}', '{"owner":"alice","forms":["a"]}'])(
  'what others have written in their place is no draft: %s',
  (text) => {
    items.set('keyplane-drafts', text)
    takeDrafts(storage)
    expect([draftsOf('alice').size, items.size]).toEqual([0, 0])
  },
)

test('without a draft nothing is stored', () => {
  draftsOf('alice')
  storeDrafts(storage)
  expect(items.size).toBe(0)
})
