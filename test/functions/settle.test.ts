/** Tests that the function that settles the change logs accepts its event repeatedly and changes no object. */
import { expect, test } from 'vitest'
import { useFunctions } from '../support/functions.ts'
import { accessKeys, callsOf } from './stored/fixtures.ts'

const functions = useFunctions()
const { make, read } = callsOf(functions, accessKeys)

test('accepts the event of the repository', async () => {
  await make({ name: 'untouched' })
  const before = await read('untouched')
  const logged = functions.get().log.length
  await functions.run('settle')
  await functions.run('settle')
  expect(await read('untouched')).toEqual(before)
  const lines = functions
    .get()
    .log.slice(logged)
    .map((line) => JSON.parse(line))
  expect(lines.filter(({ level }) => level === 'error')).toEqual([])
})
