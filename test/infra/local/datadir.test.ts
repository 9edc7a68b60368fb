import { existsSync } from 'node:fs'
import { chmod, mkdtemp, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openDataDir } from '../../../infra/local/datadir.ts'

const newFolder = () => mkdtemp(join(tmpdir(), 'keyplane-test-'))

// threat: local-3
test('creates the folder for its owner only and keeps the mode of an existing one', async () => {
  const parent = await newFolder()
  const made = await openDataDir({ dataDir: join(parent, 'a', 'b'), memory: false })
  expect((await stat(made.path)).mode & 0o777).toBe(0o700)
  await made.release()
  await chmod(made.path, 0o755)
  await (await openDataDir({ dataDir: made.path, memory: false })).release()
  expect((await stat(made.path)).mode & 0o777).toBe(0o755)
})

test('admits one server at a time', async () => {
  const dataDir = await newFolder()
  const first = await openDataDir({ dataDir, memory: false })
  await expect(openDataDir({ dataDir, memory: false })).rejects.toThrow(
    `Another server uses the data folder ${dataDir}: stop it, or name another folder in DATA_DIR.`,
  )
  await first.release()
  const second = await openDataDir({ dataDir, memory: false })
  expect(second.stateFile('kms.json')).toEqual({ path: join(dataDir, 'kms.json') })
  await second.release()
})

test.each([
  ['a file', 'file'],
  ['below a file', 'file/data'],
])('refuses %s as a folder', async (_, path) => {
  const parent = await newFolder()
  await writeFile(join(parent, 'file'), '')
  const dataDir = join(parent, path)
  await expect(openDataDir({ dataDir, memory: false })).rejects.toThrow(
    /^The data folder .*file.* cannot be used, because (it|a part of its path) is not a folder: name another folder in DATA_DIR\.$/,
  )
})

test('names a folder that is not writable', () =>
  expect(openDataDir({ dataDir: '/proc', memory: false })).rejects.toThrow(
    /^The data file \/proc\/lock cannot be used, because .+ DATA_DIR\.$/,
  ))

test('creates a temporary folder with memory and removes it on release', async () => {
  const one = await openDataDir({ dataDir: '/never/used', memory: true })
  const other = await openDataDir({ dataDir: '/never/used', memory: true })
  expect(one.path).not.toBe(other.path)
  expect((await stat(one.path)).mode & 0o777).toBe(0o700)
  expect(one.stateFile('kms.json')).toEqual({})
  await Promise.all([one.release(), other.release()])
  expect(existsSync(one.path)).toBe(false)
})
