import { expect, test } from 'vitest'
import { provide, provided } from '../../../../lib/engine/meta/provided.ts'

test('what several have provided is that of the last one that has not ended, in whatever order they end', () => {
  const name = 'thing of a test'
  expect(() => provided(name)).toThrow(`this process provides no ${name}`)
  const [first, second, third] = ['first', 'second', 'third'].map((value) => provide(name, value))
  expect(provided(name)).toBe('third')
  first?.()
  third?.()
  expect(provided(name)).toBe('second')
  second?.()
  expect(() => provided(name)).toThrow(`this process provides no ${name}`)
})
