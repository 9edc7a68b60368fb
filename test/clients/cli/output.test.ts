/** Tables and times, as people read them. */
import { expect, test } from 'vitest'
import { table } from '../../../clients/cli/src/output/table.ts'
import { ago } from '../../../clients/cli/src/output/times.ts'

test('a table that is too wide keeps its names, which people copy', () => {
  const name = 'demo-tipqeo7xk2pm4wqz'
  const rows = [[name, 'a-user-with-a-long-name', 'projects a, b, c, d, e, f']]
  expect(table(['NAME', 'OWNER', 'MAY DO'], rows, 48)).toMatch(
    new RegExp(`^NAME .*\n${name}  a-user-.*…  projects .*…\n$`),
  )
})

test('times are cut to seconds, so what is made now was not made a second ago', () => {
  const time = '2026-11-26T10:00:00Z'
  const words = ['10:00:00.000', '10:00:01.999', '10:00:02.000'].map((at) => ago(time, new Date(`2026-11-26T${at}Z`)))
  expect(words).toEqual(['just now', 'just now', '2s ago'])
})
