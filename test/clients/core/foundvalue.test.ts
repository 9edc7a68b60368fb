/** What somebody has found, and whether it is sent. */
import { expect, test } from 'vitest'
import { judgeFoundValue } from '../../../clients/core/src/words/foundvalue.ts'
import { encodeKey } from '../../../lib/engine/meta/value/credentialformat.ts'

const key = encodeKey(new Uint8Array(32))
const filled = (prefix: string, length = 40) => prefix.padEnd(length, 'x')

test.each<readonly [string, string]>([
  [key, 'own'],
  [filled(''), 'odd'],
  [filled('', 512), 'odd'],
  [filled('', 31), 'refused'],
  [filled('', 513), 'refused'],
  ['', 'refused'],
  [`${filled('a ')}`, 'refused'],
  [filled('é'), 'refused'],
  [key.slice(0, -1), 'refused'],
  [`${key.slice(0, -1)}-`, 'refused'],
  [`KEY=${key}`, 'refused'],
  [`${key}${key}`, 'refused'],
  [filled('mpk_'), 'refused'],
  ...[
    'ghp_',
    'github_pat_',
    'glpat-',
    'AKIA0',
    'AIza',
    'xoxb-',
    'sk_live_',
    'sk-ant-',
    'npm_',
    'hvs.',
    'dckr_pat_',
  ].map((prefix) => [filled(prefix), 'refused'] as const),
  [`${filled('x')}.atlasv1.${filled('x')}`, 'refused'],
  [`${filled('eyJ')}.${filled('eyJ')}.x`, 'refused'],
])('%j is %s', (text, kind) => expect(judgeFoundValue(text).kind).toBe(kind))

test('no sentence about a text has any of it', () => {
  for (const text of [filled('ghp_'), key.slice(0, -1), `${key}${key}`]) {
    const judged = judgeFoundValue(text)
    expect(JSON.stringify(judged)).not.toContain(text.slice(0, 8))
  }
})
