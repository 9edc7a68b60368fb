/** Kills every request of a rotation before and after each of its calls of the table, and repeats it. */
import { describe, expect, test } from 'vitest'
import { createScene, type Kill, scenarios, values } from './rotation/kills.ts'

describe.each(scenarios)('$name', ({ before, request, left }) => {
  test.each(['before', 'after'] as const)('may die %s any call, and can be repeated', async (moment) => {
    let isOver = false
    let call = 0
    while (!isOver) {
      const scene = await createScene()
      await before(scene)
      const kill: Kill = { call: ++call, moment }
      isOver = !(await scene.kill(() => request(scene), kill))
      expect({ kill, wrong: await scene.judge() }).toEqual({ kill, wrong: [] })
      await request(scene)
      expect({ kill, wrong: await scene.judge() }).toEqual({ kill, wrong: [] })
      const works = await Promise.all(values.map(async (value) => ((await scene.works(value)) ? [value] : [])))
      expect({ kill, left: works.flat() }).toEqual({ kill, left })
    }
    // Authentication alone makes two calls, and a write many more.
    expect(call).toBeGreaterThan(2)
  })
})
