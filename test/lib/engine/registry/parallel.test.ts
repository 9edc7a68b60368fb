import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { forEach, OutOfTime } from '../../../../lib/engine/registry/parallel.ts'

describe('work on many objects', () => {
  const items = [0, 1, 2, 3, 4, 5]

  test('continues after a failure, and fails as the first item did, whichever failed first', async () => {
    const done: number[] = []
    const work = async (item: number) => {
      // The first items take longest.
      for (let turns = items.length - item; turns > 0; turns--) await setImmediate()
      if (item === 1 || item === 4) throw new Error(`item ${item}`)
      done.push(item)
    }
    await expect(forEach(items, () => true, work, items.length)).rejects.toThrow('item 1')
    expect(done.sort()).toEqual([0, 2, 3, 5])
  })

  test('starts no more once there is no time', async () => {
    const done: number[] = []
    const work = async (item: number) => void done.push(item)
    await expect(forEach(items, () => done.length < 2, work, 1)).rejects.toThrow(OutOfTime)
    expect(done).toEqual([0, 1])
  })
})
