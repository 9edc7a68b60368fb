/** Commands of the console do in a real shell what they say, whatever texts are part of them. */
import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { heredoc, shellWord } from '../../../clients/console/src/text/kubectl.ts'
import { character } from '../../support/characters.ts'
import { shells } from '../../support/shells.ts'

const HOSTILE = [
  ...[
    '',
    ' ',
    "it's",
    `a'b"c`,
    '$(touch /tmp/x)',
    '`id`',
    '$HOME',
    '\\',
    '\\n',
    '~',
    '=ls',
    '-n',
    '--',
    '!1',
    '*',
    '&',
    ';',
  ],
  ...[
    'a\nb',
    'EOF',
    '\nEOF\nid\n',
    '\u0007\u001b[201~id\n',
    '\u202egnp',
    '\u{1f600}',
    '\ufeff',
    'admin\u3164',
    '\u2800',
    "\u200b'",
    'é',
    '#a',
    '{a,b}',
  ],
]
/** Texts without NUL, which no program can be given. */
const text = fc
  .oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'grapheme' }), fc.string({ unit: character }))
  .map((one) => one.replaceAll('\0', ''))

function run(shell: string, script: string): string {
  const { stdout, stderr } = spawnSync(shell, ['-s'], { input: script, encoding: 'utf8' })
  expect(stderr).toBe('')
  return stdout
}

describe.each(shells.map(({ name }) => name))('%s', (shell) => {
  test('reads words as the texts that they are', () => {
    const texts = [...HOSTILE, ...fc.sample(text, 500)]
    const read = run(shell, texts.map((one) => `printf '%s\\0' ${shellWord(one)}\n`).join(''))
    expect(read.split('\0').slice(0, -1)).toEqual(texts)
  })

  test('gives a program the text of a heredoc as it is', () => {
    const texts = [...HOSTILE, 'EOF\nEOF_\nEOF__\n']
    const read = run(shell, texts.map((one) => `${heredoc('cat', one)}\nprintf 'end\\0'\n`).join(''))
    expect(read.split('\0').slice(0, -1)).toEqual(texts.map((one) => `${one.endsWith('\n') ? one : `${one}\n`}end`))
  })
})

test('words hold nothing that a terminal acts on or hides', () => {
  fc.assert(
    fc.property(text, (one) => {
      expect(shellWord(one)).not.toMatch(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u)
    }),
  )
})
