import { describe, expect, test } from 'vitest'
import { canonical } from '../../../clients/cli/src/arguments/aliases.ts'
import { parseCall } from '../../../clients/cli/src/arguments/parse.ts'
import { commands } from '../../../clients/cli/src/commands/index.ts'

describe('habits of other programs', () => {
  test.each([
    ['ls', 'keys list'],
    ['ls -o name', 'keys list -o name'],
    ['get keys', 'keys list'],
    ['get key ci', 'keys show ci'],
    ['describe key ci', 'keys show ci'],
    ['rm key ci', 'keys delete ci'],
    ['keys ls', 'keys list'],
    ['key rm ci', 'keys delete ci'],
    ['keys get', 'keys list'],
    ['keys get -l a=b', 'keys list -l a=b'],
    ['keys get ci -o yaml', 'keys show ci -o yaml'],
    ['keys rotate ci', 'rotate ci'],
    ['keys revoke ci', 'revoke ci'],
    ['clusters rm eu', 'clusters disconnect eu'],
    ['rm cluster eu', 'clusters disconnect eu'],
    ['get vc', 'virtual-clusters list'],
    ['trust show a', 'trusts show a'],
    ['contexts ls', 'contexts'],
    ['contexts use a', 'use a'],
    ['version', '--version'],
  ])('%s is %s', (line, meant) => expect(canonical(line.split(' ')).join(' ')).toBe(meant))

  test.each([
    'login version',
    'version now',
    'get',
    'get nothing',
    'constructor',
    '__proto__ x',
    'keys',
    'whose rm',
    'rm',
  ])('%s stays as it is', (line) => expect(canonical(line.split(' ')).join(' ')).toBe(line))

  test('no command has the name of an alias', () => {
    for (const { name } of commands) expect(canonical([...name, 'x'])).toEqual([...name, 'x'])
  })

  test('are found after common options, and in the help', () => {
    expect(parseCall(commands, ['--context', 'a', 'ls'], 'posix')).toMatchObject({
      command: { name: ['keys', 'list'] },
    })
    expect(parseCall(commands, ['help', 'keys', 'rm'], 'posix')).toMatchObject({ words: ['keys', 'delete'] })
    expect(parseCall(commands, ['version'], 'posix')).toEqual({ kind: 'version' })
  })
})
