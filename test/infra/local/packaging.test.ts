import { chmod, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { packageFunctions, packagingProblem } from '../../../infra/local/packaging.ts'

const problem = (code: string) => {
  const error = Object.assign(new Error(code), { code, syscall: 'open', path: '/project/.local' })
  return packagingProblem(error, '/project').message
}

test.each([
  ['EACCES', 'you have no permission'],
  ['EROFS', 'its file system is read-only'],
])('a checkout that cannot be written (%s) says what to run once', (code, reason) =>
  expect(problem(code)).toBe(
    `The functions in /project are not packaged, and cannot be, because ${reason}: run npm run package there once with permission to write, and name a folder that can be written in DATA_DIR.`,
  ),
)

test('a full disk says so', () =>
  expect(problem('ENOSPC')).toBe('The functions cannot be packaged in /project, because no space is left on its disk.'))

test.skipIf(process.getuid?.() === 0)('a checkout of somebody else says so', async () => {
  const root = await mkdtemp(join(tmpdir(), 'keyplane-'))
  await chmod(root, 0o555)
  const signal = new AbortController().signal
  await expect(packageFunctions({ root, say() {}, signal })).rejects.toThrow('because you have no permission')
})
