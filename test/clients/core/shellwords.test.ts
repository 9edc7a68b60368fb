/** Words of commands for the shells of people. test/clients/console/kubectl.test.ts gives hostile words of POSIX to real shells. */
import { expect, test } from 'vitest'
import { shellOf, shellWords } from '../../../clients/core/src/shellwords.ts'

const modules = 'C:\\Program Files\\WindowsPowerShell\\Modules'

test.each([
  ['linux', {}, 'posix'],
  ['darwin', { PSModulePath: '/Users/alice/.local/share/powershell/Modules', USERPROFILE: '/Users/alice' }, 'posix'],
  ['win32', {}, 'cmd'],
  ['win32', { USERPROFILE: 'C:\\Users\\alice', PSModulePath: modules }, 'cmd'],
  [
    'win32',
    {
      USERPROFILE: 'C:\\Users\\alice',
      PSModulePath: `c:\\users\\alice\\OneDrive\\Documents\\PowerShell\\Modules;${modules}`,
    },
    'powershell',
  ],
  // Git Bash, wherever it was started from.
  ['win32', { USERPROFILE: 'C:\\Users\\alice', PSModulePath: 'C:\\Users\\alice\\a', SHELL: '/usr/bin/bash' }, 'posix'],
])('the shell on %s with %j is %s', (platform, env, shell) => expect(shellOf(env, platform)).toBe(shell))

/** Each text as a word of a POSIX shell, of cmd and of PowerShell. The words of cmd reach a program of Windows as the texts that they are. */
test.each([
  ['get', 'get', 'get', 'get'],
  ['--context', '--context', '--context', '--context'],
  ['-', '-', '-', '-'],
  ['--', '--', '"--"', '"--"'],
  ['', "''", '""', '""'],
  ['demo/demo', 'demo/demo', 'demo/demo', 'demo/demo'],
  [
    'https://127.0.0.1:8443/a-b',
    'https://127.0.0.1:8443/a-b',
    'https://127.0.0.1:8443/a-b',
    'https://127.0.0.1:8443/a-b',
  ],
  ['C:\\work\\ca.crt', "'C:\\work\\ca.crt'", 'C:\\work\\ca.crt', 'C:\\work\\ca.crt'],
  ['C:\\my work\\ca.crt', "'C:\\my work\\ca.crt'", '"C:\\my work\\ca.crt"', '"C:\\my work\\ca.crt"'],
  ['C:\\my work\\', "'C:\\my work\\'", '"C:\\my work\\\\"', '"C:\\my work\\\\"'],
  ["it's", "'it'\\''s'", '"it\'s"', '"it\'s"'],
  ['a&b|c^(d)', "'a&b|c^(d)'", '"a&b|c^(d)"', '"a&b|c^(d)"'],
  ['--type=json', '--type=json', '"--type=json"', '"--type=json"'],
  ['@file', '@file', '"@file"', '"@file"'],
  ['$HOME `id`', "'$HOME `id`'", '"$HOME `id`"', "'$HOME `id`'"],
  ['%PATH% of it', "'%PATH% of it'", '^"^%PATH^% of it^"', '"%PATH% of it"'],
  ['{"a": "b\\"}', `'{"a": "b\\"}'`, '^"{\\^"a\\^": \\^"b\\\\\\^"}^"', `'{"a": "b\\"}'`],
  ["the ‘a’ of “b” isn't", "'the ‘a’ of “b” isn'\\''t'", '"the ‘a’ of “b” isn\'t"', "'the ‘‘a’’ of “b” isn''t'"],
])('the word %j is %s for POSIX, %s for cmd and %s for PowerShell', (text, posix, cmd, powershell) =>
  expect((['posix', 'cmd', 'powershell'] as const).map((shell) => shellWords([text], shell))).toEqual([
    posix,
    cmd,
    powershell,
  ]),
)

test('words have spaces between them', () =>
  expect(shellWords(['kubectl', '--kubeconfig', 'a b', 'get'], 'cmd')).toBe('kubectl --kubeconfig "a b" get'))
