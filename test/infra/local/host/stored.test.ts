import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStored, syncFolder } from '../../../../infra/local/host/stored.ts'

const newPath = async () => join(await mkdtemp(join(tmpdir(), 'keyplane-test-')), 'state.json')

test('changes run in sequence and survive a restart', async () => {
  const path = await newPath()
  const stored = await openStored(path, { numbers: [] as number[] })
  const lengths = await Promise.all([1, 2, 3].map((n) => stored.change(({ numbers }) => numbers.push(n))))
  expect(lengths).toEqual([1, 2, 3])
  expect((await openStored(path, { numbers: [] as number[] })).state).toEqual({ numbers: [1, 2, 3] })
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await readdir(join(path, '..'))).toEqual(['state.json'])
})

test('a change that throws is discarded, and the next one is made', async () => {
  const stored = await openStored(undefined, { n: 0 })
  const failing = stored.change((draft) => {
    draft.n = 5
    throw new Error('no')
  })
  const next = stored.change((draft) => {
    draft.n += 1
  })
  await expect(failing).rejects.toThrow('no')
  await next
  expect(stored.state).toEqual({ n: 1 })
})

test('a change that cannot be written is discarded', async () => {
  const path = await newPath()
  const stored = await openStored(join(path, 'below', 'a-missing-folder'), { n: 0 })
  const change = stored.change((draft) => {
    draft.n = 1
  })
  await expect(change).rejects.toThrow('ENOENT')
  expect(stored.state).toEqual({ n: 0 })
})

test('each store without a file has an empty state of its own', async () => {
  const empty = { list: [] as number[] }
  const stored = await openStored(undefined, empty)
  await stored.change(({ list }) => list.push(1))
  expect(empty).toEqual({ list: [] })
})

test.each([
  ['cut short', (text: string) => text.slice(0, -3)],
  ['changed inside a string', (text: string) => text.replace('secret', 'sEcret')],
  ['empty', () => ''],
  ['something else', () => 'null'],
])('a file that is %s is damaged', async (_, damage) => {
  const path = await newPath()
  await (await openStored(path, { value: '' })).change((draft) => {
    draft.value = 'secret'
  })
  await writeFile(path, damage(await readFile(path, 'utf8')))
  await expect(openStored(path, { value: '' })).rejects.toThrow(`The data file ${path} is damaged: `)
})

test('an unreadable file is an error', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keyplane-test-'))
  await expect(openStored(folder, {})).rejects.toThrow(
    `The data file ${folder} cannot be used, because it is a folder: `,
  )
})

test('a folder is synced, but not on Windows, which refuses that', async () => {
  const missing = join(await newPath(), 'missing')
  await expect(syncFolder(missing, 'linux')).rejects.toThrow('ENOENT')
  await expect(syncFolder(missing, 'win32')).resolves.toBeUndefined()
})
