/** Tests that a change log that cannot be settled does not keep the others from it. */
import { expect, test } from 'vitest'
import { settleAll } from '../../../lib/server/settle.ts'
import { StorageError } from '../../../lib/storage/errors.ts'

const tables = ['a', 'b', 'c'].map((resource) => ({ resource, activity: false, partitions: () => [] }))

test.each([[['a']], [['a', 'b']]])('settles all tables besides %j, and fails', async (broken) => {
  const settled: string[] = []
  const sweep = async ({ resource }: { resource: string }) => {
    if (broken.includes(resource)) throw new StorageError('Unavailable', `${resource} is away`)
    settled.push(resource)
  }
  await expect(settleAll({ sweep }, tables)).rejects.toThrow(/a is away|not settled/)
  expect(settled).toEqual(tables.map(({ resource }) => resource).filter((one) => !broken.includes(one)))
})
