/** Tests what the local server says of a file that it cannot open as its table. */
import { mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { StartupError } from '../../../infra/local/host/startuperror.ts'
import { embeddedTable } from '../../../infra/local/table.ts'

// main.test.ts has a damaged file.
test('a table that is no file is a sentence for the user', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keyplane-table-'))
  const path = join(folder, 'table.db')
  await mkdir(path)
  await using stack = new AsyncDisposableStack()
  const sentence = `The data file ${path} cannot be opened (EISDIR): restore it from a copy, or remove the folder ${folder} to start afresh.`
  expect(() => embeddedTable(path, Date.now, stack)).toThrow(new StartupError(sentence))
})
