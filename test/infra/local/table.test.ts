/** Tests what the local server says of a table that it cannot open. */
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { StartupError } from '../../../infra/local/host/startuperror.ts'
import { embeddedTable, tableOf } from '../../../infra/local/table.ts'

/** Expects the sentence that `sentenceOf` returns for what `prepare` has written into the folder of the table. */
async function expectSentence(prepare: (folder: string) => Promise<unknown>, sentenceOf: (folder: string) => string) {
  const folder = await mkdtemp(join(tmpdir(), 'keyplane-table-'))
  await prepare(folder)
  await using stack = new AsyncDisposableStack()
  const open = () => embeddedTable(join(folder, 'table.db'), Date.now, stack)
  expect(open).toThrow(new StartupError(sentenceOf(folder)))
  return folder
}

test.each<[string, string, (path: string) => Promise<unknown>]>([
  ['no file', 'cannot be opened (EISDIR)', mkdir],
  ['a damaged file', 'is damaged', (path) => writeFile(path, 'x'.repeat(4096))],
])('a table that is %s is a sentence for the user', async (_, why, prepare) => {
  await expectSentence(
    (folder) => prepare(join(folder, 'table.db')),
    (folder) =>
      `The data file ${folder}/table.db ${why}: restore it from a copy, or remove the folder ${folder} to start afresh.`,
  )
})

test('the data of a release that had an embedded DynamoDB stays as it is', async () => {
  const folder = await expectSentence(
    (folder) => writeFile(join(folder, 'dynamodb.db'), 'data'),
    (folder) =>
      `The data folder ${folder} was written by an earlier release, whose embedded DynamoDB this one does not have: name another folder in DATA_DIR, or remove this one to start afresh.`,
  )
  expect(await readFile(join(folder, 'dynamodb.db'), 'utf8')).toBe('data')
})

test('a DynamoDB that does not respond is a sentence for the user', () =>
  expect(
    tableOf('http://127.0.0.1:1', 'eu-central-1', { accessKeyId: 'a', secretAccessKey: 'b' })('keyplane-Table', {}),
  ).rejects.toThrow(/^DynamoDB at http:\/\/127\.0\.0\.1:1 cannot create the table keyplane-Table: .*ECONNREFUSED.*$/))
