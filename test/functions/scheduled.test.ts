/** The functions that no client calls: each takes its event, again and again, and says in the log what it did. */
import { expect, test } from 'vitest'
import { useFunctions } from '../support/functions.ts'
import { accessKeys, callsOf } from './stored/fixtures.ts'

const functions = useFunctions({ KEY_RETENTION_SECONDS: '1' })
const { make, read } = callsOf(functions, accessKeys)

test.each(['settle', 'sweep', 'garbagecollector'])('%s', async (name) => {
  await make({ name: `untouched-${name}` })
  const before = functions.get().log.length
  await functions.run(name)
  await functions.run(name)
  expect((await read(`untouched-${name}`)).kind).toBe('OwnedAccessKey')
  const lines = functions
    .get()
    .log.slice(before)
    .map((line) => JSON.parse(line))
  expect(lines.filter(({ level }) => level !== 'info')).toEqual([])
})
