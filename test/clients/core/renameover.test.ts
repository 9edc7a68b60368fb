import { expect, test } from 'vitest'
import { renameOver } from '../../../clients/core/src/files/renameover.ts'

/** Renames that fail with the codes, one after the other, until there are none. */
function failing(codes: string[]) {
  const waits: number[] = []
  const attempt = async () => {
    const code = codes.shift()
    if (code !== undefined) throw Object.assign(new Error(code), { code })
  }
  return { waits, given: { attempt, pause: async (milliseconds: number) => waits.push(milliseconds) } }
}

test('Windows is asked again while a program has the file open', async () => {
  const { waits, given } = failing(['EPERM', 'EBUSY', 'EACCES'])
  await renameOver('new', 'old', { ...given, platform: 'win32' })
  expect(waits).toHaveLength(3)
})

test('it gives up after two seconds', async () => {
  const { waits, given } = failing(Array(100).fill('EPERM'))
  await expect(renameOver('new', 'old', { ...given, platform: 'win32' })).rejects.toThrow('EPERM')
  expect(waits.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(2000)
})

test.each([
  ['win32', 'ENOSPC'],
  ['linux', 'EACCES'],
] as const)('on %s, %s is final', async (platform, code) => {
  const { waits, given } = failing([code])
  await expect(renameOver('new', 'old', { ...given, platform })).rejects.toThrow(code)
  expect(waits).toEqual([])
})
