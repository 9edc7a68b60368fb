/** Private files: new, never behind a link, replaced as a whole, and removed only if nothing has taken their place. */
import { mkdir, readdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  besideOf,
  intendedName,
  makeFile,
  makeFolder,
  makeTemporaryFolder,
  removeFile,
  removeFolder,
  renameOver,
  replaceFile,
} from '../../../clients/core/src/files/privatefiles.ts'
import { testFolder } from '../../support/folder.ts'

const around = testFolder()
let folder: string
let path: string
beforeEach(async () => {
  folder = (await makeTemporaryFolder(around, 'test-')).path
  path = join(folder, 'file')
})
const modeOf = async (one: string) => (await stat(one)).mode & 0o777

test('a folder is made with those above it, also by many at the same time', async () => {
  for (const name of Array.from({ length: 50 }, (_, index) => String(index))) {
    const deep = join(folder, name, 'a', 'b')
    const begun: Promise<void>[] = []
    for (let count = 0; count < 8; count++) {
      begun.push(makeFolder(deep))
      await new Promise((resolve) => setImmediate(resolve))
    }
    await Promise.all(begun)
    expect(await modeOf(deep)).toBe(0o700)
  }
})

describe('a file', () => {
  test('is replaced with its content and its mode, and nothing is left beside it', async () => {
    await writeFile(path, 'a longer text', { mode: 0o666 })
    await replaceFile(path, 'zero')
    expect([await readFile(path, 'utf8'), await modeOf(path)]).toEqual(['zero', 0o600])
    await replaceFile(path, Buffer.from('one'), 0o644)
    expect([await readFile(path, 'utf8'), await modeOf(path)]).toEqual(['one', 0o644])
    await replaceFile(path, 'two')
    expect([await modeOf(path), await readdir(folder)]).toEqual([0o600, ['file']])
  })

  test('takes the place of a symbolic link, whose target stays as it is', async () => {
    await writeFile(join(folder, 'target'), 'mine')
    await symlink(join(folder, 'target'), path)
    await replaceFile(path, 'secret')
    expect([await readFile(join(folder, 'target'), 'utf8'), await readFile(path, 'utf8')]).toEqual(['mine', 'secret'])
  })

  test('does not replace a folder, and leaves nothing beside it', async () => {
    await mkdir(path)
    await expect(replaceFile(path, 'secret')).rejects.toThrow('EISDIR')
    expect(await readdir(folder)).toEqual(['file'])
  })

  test('is made where nothing is, not even a broken symbolic link', async () => {
    await symlink(join(folder, 'nothing'), path)
    await expect(makeFile(path)).rejects.toThrow('EEXIST')
    expect(await readdir(folder)).toEqual(['file'])
  })

  test('is removed unless another one has taken its place', async () => {
    const first = await replaceFile(path, 'first')
    const second = await replaceFile(path, 'second')
    expect([await removeFile(first), await readFile(path, 'utf8')]).toEqual([false, 'second'])
    await rename(path, join(folder, 'moved'))
    await symlink('moved', path)
    expect(await removeFile(second)).toBe(false)
    expect(await readdir(folder)).toEqual(['file', 'moved'])
    await rename(join(folder, 'moved'), path)
    expect([await removeFile(second), await removeFile(second), await readdir(folder)]).toEqual([true, true, []])
  })

  test('that a killed process has left beside another one is known by its name', () => {
    expect([intendedName(besideOf('key')), intendedName('key.tmp')]).toEqual(['key', 'key.tmp'])
  })
})

describe('a folder', () => {
  test('is made with those above it, for its owner only', async () => {
    const inner = join(folder, 'a', 'b')
    await makeFolder(inner)
    await makeFolder(inner)
    expect([await modeOf(join(folder, 'a')), await modeOf(inner)]).toEqual([0o700, 0o700])
  })

  test.each([
    ['a file is there', () => writeFile(path, ''), 'file', 'EEXIST'],
    ['a file is above it', () => writeFile(path, ''), 'file/a', 'ENOTDIR'],
    ['a link above it leads nowhere', () => symlink('nowhere', path), 'file/a', 'ENOENT'],
  ] as const)('is not made if %s', async (_, make, name, code) => {
    await make()
    await expect(makeFolder(join(folder, name))).rejects.toThrow(code)
  })

  test('is removed with what is its own, and stays for what others have put there', async () => {
    const made = await makeTemporaryFolder(folder, 'made-')
    for (const name of ['own', 'other']) await writeFile(join(made.path, name), '')
    await expect(removeFolder(made, (name) => name === 'own')).rejects.toThrow('ENOTEMPTY')
    expect(await readdir(made.path)).toEqual(['other'])
    expect([await removeFolder(made, () => true), await removeFolder(made, () => true)]).toEqual([true, true])
    expect(await readdir(folder)).toEqual([])
  })

  test('is not removed if a link has taken its place', async () => {
    const made = await makeTemporaryFolder(folder, 'made-')
    await rename(made.path, path)
    await writeFile(join(path, 'mine'), '')
    await symlink(path, made.path)
    expect([await removeFolder(made, () => true), await readdir(path)]).toEqual([false, ['mine']])
  })
})

/** Renames that fail with the codes, one after the other, until there are none. */
function failing(codes: string[]) {
  const waits: number[] = []
  const attempt = async () => {
    const code = codes.shift()
    if (code !== undefined) throw Object.assign(new Error(code), { code })
  }
  return { waits, given: { attempt, pause: async (milliseconds: number) => waits.push(milliseconds) } }
}

test('a rename is tried again on Windows while a program has the file open', async () => {
  const { waits, given } = failing(['EPERM', 'EBUSY', 'EACCES'])
  await renameOver('new', 'old', { ...given, platform: 'win32' })
  expect(waits).toHaveLength(3)
})

test('a rename is given up after two seconds', async () => {
  const { waits, given } = failing(Array(100).fill('EPERM'))
  await expect(renameOver('new', 'old', { ...given, platform: 'win32' })).rejects.toThrow('EPERM')
  expect(waits.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(2000)
})

test.each([
  ['win32', 'ENOSPC'],
  ['linux', 'EACCES'],
] as const)('a rename on %s is not tried again after %s', async (platform, code) => {
  const { waits, given } = failing([code])
  await expect(renameOver('new', 'old', { ...given, platform })).rejects.toThrow(code)
  expect(waits).toEqual([])
})
