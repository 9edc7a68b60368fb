/** What people read about the use of a key. */
import { describe, expect, test } from 'vitest'
import { adviceText, compareUnneeded, unneededRow } from '../../../clients/cli/src/advice/advicetexts.ts'
import { usageText } from '../../../clients/cli/src/commands/usage.ts'
import type { Scope } from '../../../clients/core/src/objects.ts'
import type { KeyUsage } from '../../../clients/core/src/usage.ts'
import { testIo } from './credentials/testio.ts'

const now = new Date('2026-11-26T10:00:00Z')
const { io } = testIo({ now: () => now })
const scope: Scope = { projects: [{ project: 'a' }, { project: 'b' }] }
const usedKey = (usage: KeyUsage, spec: { scope?: Scope } = { scope }, name = 'ci') => ({
  key: { metadata: { name, uid: 'u', resourceVersion: '1', creationTimestamp: '' }, spec },
  object: {},
  usage,
})
const unknown = (reason: string, withholds = true) => ({
  reason,
  message: `${reason}!`,
  ...(withholds && { withholds }),
})

describe('usage', () => {
  test.each<[string, KeyUsage]>([
    ['This deployment does not record usage', { recording: false, complete: false }],
    ['It is not known yet since when usage is recorded.', { recording: true }],
    ['The record is incomplete', { recording: true, since: '2026-11-01T08:00:00Z', complete: false }],
    ['in a cluster that never asked is unknown', { clusters: [{ name: 'clusters/eu' }] }],
    ['No requests are recorded.', { recording: true }],
    ['No line of a scope limits the key.', { recording: true }],
  ])('says %j', (sentence, usage) => {
    expect(usageText(usedKey(usage), io)).toContain(sentence)
  })

  test.each<[string, KeyUsage, string?]>([
    [
      'The key was used only for requests that every key may send, such as asking who it is.',
      {},
      '2026-11-26T09:00:00Z',
    ],
    ['No requests are recorded.', {}],
    ['No requests are recorded.', { since: '2026-11-26T08:30:00Z' }, '2026-11-26T09:00:00Z'],
    ['No requests are recorded.', { clusters: [{ name: 'clusters/eu' }] }, '2026-11-26T09:00:00Z'],
    ['No requests are recorded.', { recording: false }, '2026-11-26T09:00:00Z'],
    ['No requests are recorded.', { complete: false }, '2026-11-26T09:00:00Z'],
  ])('says %j of a key without requests if it is %o, and was last used at %s', (sentence, usage, lastActivity) => {
    const { key } = usedKey({})
    const used = {
      ...key,
      metadata: { ...key.metadata, creationTimestamp: '2026-11-26T08:00:00Z' },
      status: { ...(lastActivity && { lastActivity }) },
    }
    const whole = { recording: true, since: '2026-11-26T08:00:00Z', complete: true, ...usage }
    expect(usageText({ key: used, usage: whole }, io)).toContain(sentence)
  })

  test('shows what was asked for and refused apart, and not as a use of the key', () => {
    const refused = { request: 'delete of pods', lastUsed: '2026-11-25', refused: true }
    const text = usageText(usedKey({ recording: true, entries: [refused], refusedMore: true }), io)
    expect(text).toContain('ASKED FOR, REFUSED  LAST ASKED\ndelete of pods      2026-11-25\n')
    expect(text).toContain('Its scope refused more kinds of requests than are recorded.')
    expect(text).toContain('No requests are recorded.')
    expect(text).not.toContain('REQUEST ')
  })

  test('says nothing more of a complete record', () => {
    const usage: KeyUsage = {
      ...{ recording: true, since: '2026-11-01T10:00:00Z', complete: true },
      entries: [{ request: 'list of pods\u001b[2J', lastUsed: '2026-11-25' }],
      lines: [{ line: 'spec.scope.projects[0]', state: 'Used', lastUsed: '2026-11-25' }],
    }
    expect(usageText(usedKey(usage), io)).toBe(`Key        ci
Recorded   since 25d ago (2026-11-01T10:00:00Z)
Last used  never

LINE                    STATE  LAST USED   ENTRY
spec.scope.projects[0]  Used   2026-11-25  projects: {project: a}

REQUEST                LAST USED
list of pods\\u{1b}[2J  2026-11-25
`)
  })
})

describe('advice', () => {
  const smaller = { projects: [{ project: 'a' }] }
  const [removed, added] = [['projects: {project: b}'], ['rules: [{}]']]
  test.each<[string, KeyUsage, { scope?: Scope }?]>([
    ['ci does not need 1 of 2 lines of its scope.', { advice: { scope: smaller, removed } }],
    ['ci does not need 1 of 2 lines of its scope (1 smaller instead).', { advice: { scope: smaller, removed, added } }],
    ['ci has no scope. 1 line would allow all that it did.', { advice: { scope: smaller } }, {}],
    ['This deployment does not record usage, so there is no advice', { recording: false, advice: {} }],
    ['No smaller scope is advised for ci.\n\nWhy:\n  Unused!\n', { advice: { unknowns: [unknown('Unused')] } }],
    [
      'ci needs its whole scope, as far as the record shows.\n\nWhat is not known:\n  Incomplete!',
      { advice: { unknowns: [unknown('Incomplete', false)] } },
    ],
  ])('begins %j', (headline, usage, spec) => {
    expect(adviceText(usedKey(usage, spec)).startsWith(headline)).toBe(true)
  })

  test('of keys is in the order of what they do not need', () => {
    const finding = { type: 'NeverExpires', message: '' }
    const keys = [
      usedKey(
        { advice: { unknowns: [unknown('ClusterNeverAsks', false), unknown('Incomplete')] } },
        { scope },
        'withheld',
      ),
      usedKey({}, { scope }, 'needed'),
      usedKey({ findings: [finding] }, { scope }, 'found'),
      usedKey({ advice: { scope: smaller, removed } }, { scope }, 'smaller'),
      usedKey({ advice: { scope: smaller } }, {}, 'unscoped'),
    ]
    expect(keys.toSorted(compareUnneeded).map(unneededRow)).toEqual([
      ['unscoped', 'everything but 1 line', ''],
      ['smaller', '1 of 2 lines', ''],
      ['found', 'nothing', 'never expires'],
      ['needed', 'nothing', ''],
      ['withheld', 'no advice: incomplete', ''],
    ])
  })
})
