/** Tests which sentence each cause has, and that only damage and another release are reasons to remove data. */
import { chmod, mkdtemp, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { fileProblem, hasNoRoom, ofAnotherRelease } from '../../../../infra/local/host/fileproblem.ts'

const place = { path: '/data/table.db', what: 'file' } as const
const system = (code: string, syscall = 'write') => Object.assign(new Error(code), { code, syscall })
const sqlite = (errcode: number) => Object.assign(new Error('sqlite'), { code: 'ERR_SQLITE_ERROR', errcode })
const messageOf = (error: unknown, at: Parameters<typeof fileProblem>[1] = place) => fileProblem(error, at)?.message

describe('a file that cannot be used', () => {
  const room = 'make room, or name a folder on another disk in DATA_DIR'
  const owner = 'run the command as its owner, or name another folder in DATA_DIR'
  test.each([
    ['a full disk', system('ENOSPC'), `because no space is left on its disk: ${room}`],
    ['a full disk, as SQLite says it', sqlite(13), `because no space is left on its disk: ${room}`],
    ['a quota', system('EDQUOT'), `because your disk quota is used up: ${room}`],
    ['a limit of file sizes', system('EFBIG'), 'because a limit on the size of files is reached: raise it (ulimit -f)'],
    ['no permission', system('EACCES', 'open'), `because you have no permission: ${owner}`],
    ['no permission, as the system words it', system('EPERM', 'chmod'), `because you have no permission: ${owner}`],
    [
      'a read-only file system',
      system('EROFS', 'open'),
      'because its file system is read-only: name another folder in DATA_DIR',
    ],
    ['too many open files', system('EMFILE', 'open'), 'because too many files are open: raise the limit (ulimit -n)'],
    [
      'too many open files, also as sockets',
      system('EMFILE', 'listen'),
      'because too many files are open: raise the limit (ulimit -n)',
    ],
    ['another error', system('ELOOP', 'open'), 'because of the error ELOOP: name another folder in DATA_DIR'],
  ])('has a sentence for %s, which removes nothing', (_, error, rest) => {
    const sentence = `The data file /data/table.db cannot be used, ${rest}.`
    expect(messageOf(error)).toBe(sentence)
    expect(messageOf(new Error('it failed', { cause: error }))).toBe(sentence)
    expect(sentence).not.toMatch(/remove|afresh/)
  })

  test.each([11, 26, 267])('is damaged if SQLite says so (%i)', (code) =>
    expect(messageOf(sqlite(code))).toBe(
      'The data file /data/table.db is damaged: restore it from a copy, or remove the folder /data to start afresh.',
    ),
  )

  test('of another release may be removed', () =>
    expect(ofAnotherRelease('/data/kms.json').message).toBe(
      'The data file /data/kms.json was written by another release: name another folder in DATA_DIR, or remove the folder /data to start afresh.',
    ))

  test('in the temporary folder names that one', () =>
    expect(messageOf(system('ENOSPC'), { path: '/tmp', what: 'folder', variable: 'TMPDIR' })).toBe(
      'The data folder /tmp cannot be used, because no space is left on its disk: make room, or name a folder on another disk in TMPDIR.',
    ))

  test.each([system('EACCES', 'spawn etcd'), system('EACCES', 'listen'), new Error('no'), undefined])(
    'is not the cause of %s',
    (error) => expect(fileProblem(error, place)).toBeUndefined(),
  )
})

describe('a cause that SQLite keeps to itself', () => {
  const CANTOPEN = 14
  test('is found by doing the same', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'keyplane-')), 'a-missing-folder', 'table.db')
    expect(messageOf(sqlite(CANTOPEN), { path: file, what: 'file' })).toContain('because of the error ENOENT')
  })

  test.skipIf(process.getuid?.() === 0)('is found in the files beside the database', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'keyplane-')), 'table.db')
    new DatabaseSync(file).close()
    await writeFile(`${file}-wal`, '')
    await chmod(`${file}-wal`, 0)
    expect(messageOf(sqlite(CANTOPEN), { path: file, what: 'file' })).toContain('because you have no permission')
  })

  test('is named by its number if that works, and nothing is left behind', async () => {
    const path = await mkdtemp(join(tmpdir(), 'keyplane-'))
    expect(messageOf(sqlite(1034), { path, what: 'folder' })).toBe(
      `The data folder ${path} cannot be used, because of the error 1034 of SQLite: name another folder in DATA_DIR.`,
    )
    expect(await readdir(path)).toEqual([])
  })
})

test.each([
  ['ENOSPC', true],
  ['EDQUOT', true],
  ['EFBIG', true],
  ['EPIPE', false],
  ['EACCES', false],
])('a stream with the error %s lacks room: %s', (code, expected) => expect(hasNoRoom(system(code))).toBe(expected))
