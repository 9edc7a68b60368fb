/** Tests which files the command line writes results to. */
import {
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { outputFile, replaceFile } from '../../../../clients/cli/src/config/outputfile.ts'

const ME = 4242
const OTHER = 4343
const isRoot = process.getuid?.() === 0

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'output-'))
  mkdirSync(join(folder, 'victim'))
  writeFileSync(join(folder, 'victim/file'), 'kept')
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true })
})

/** Makes a link of another user. Only root can give a link away: others become somebody else. */
function linkOfAnother(target: string, name: string): string {
  const path = join(folder, name)
  symlinkSync(target, path)
  if (isRoot) lchownSync(path, OTHER, OTHER)
  vi.spyOn(process, 'getuid').mockReturnValue(isRoot ? ME : ME + 1)
  return path
}

describe.skipIf(process.platform === 'win32')('a symbolic link of another user', () => {
  // threat: people-6
  test.each([
    ['to a file', 'victim/file', 'link'],
    ['that leads nowhere', 'victim/new', 'link'],
    ['in the place of a folder', 'victim', 'link/file'],
    ['behind one of the caller', 'victim/file', 'own'],
  ])('%s is not followed', async (_, target, name) => {
    const link = linkOfAnother(join(folder, target), 'link')
    symlinkSync(link, join(folder, 'own'))
    if (isRoot) lchownSync(join(folder, 'own'), ME, ME)
    const file = join(folder, name)
    for (const write of [() => outputFile(file), () => replaceFile(file, 'secret')]) {
      await expect(write()).rejects.toThrow(/is a symbolic link of another user, and is not followed/)
    }
    expect(readFileSync(join(folder, 'victim/file'), 'utf8')).toBe('kept')
  })
})

test('a symbolic link of the caller is followed, and a link to itself is refused', async () => {
  symlinkSync(join(folder, 'victim/file'), join(folder, 'own'))
  if (isRoot) chownSync(join(folder, 'victim/file'), ME, ME)
  await replaceFile(join(folder, 'own'), 'new')
  expect(readFileSync(join(folder, 'victim/file'), 'utf8')).toBe('new')
  symlinkSync('circle', join(folder, 'circle'))
  await expect(replaceFile(join(folder, 'circle'), 'new')).rejects.toThrow('its symbolic links lead in a circle')
})
