/** Tests what the local server says of a table that it cannot open. */
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
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
}

/** Makes a file of another release. */
const makeForeign = async (path: string) => {
  using database = new DatabaseSync(path)
  database.exec('PRAGMA user_version = 7')
}

test.each<[string, (path: string) => Promise<unknown>, (folder: string) => string]>([
  ['no file', mkdir, () => 'cannot be used, because it is a folder: name another folder in DATA_DIR'],
  [
    'a damaged file',
    (path) => writeFile(path, 'x'.repeat(4096)),
    (folder) => `is damaged: restore it from a copy, or remove the folder ${folder} to start afresh`,
  ],
  [
    'a file of another release',
    makeForeign,
    (folder) =>
      `was written by another release: name another folder in DATA_DIR, or remove the folder ${folder} to start afresh`,
  ],
])('a table that is %s is a sentence for the user', async (_, prepare, restOf) => {
  await expectSentence(
    (folder) => prepare(join(folder, 'table.db')),
    (folder) => `The data file ${folder}/table.db ${restOf(folder)}.`,
  )
})

/** Opens a table in a process that may write 8 KiB to a file, and prints why it cannot. */
const opening = `
  import { embeddedTable } from ${JSON.stringify(new URL('../../../infra/local/table.ts', import.meta.url).href)}
  try {
    embeddedTable(process.argv[1], Date.now, new AsyncDisposableStack())
  } catch (error) {
    process.stdout.write(error.message)
  }
`

test.skipIf(process.platform === 'win32')(
  'a table for which there is no room is a sentence that removes nothing',
  async () => {
    const path = join(await mkdtemp(join(tmpdir(), 'keyplane-table-')), 'table.db')
    const limited = [
      '-c',
      'ulimit -f 16; exec "$@"',
      'sh',
      process.execPath,
      '--input-type=module',
      '-e',
      opening,
      path,
    ]
    expect(execFileSync('sh', limited, { encoding: 'utf8' })).toBe(
      `The data file ${path} cannot be used, because a limit on the size of files is reached: raise it (ulimit -f).`,
    )
  },
)

test('a DynamoDB that does not respond is a sentence for the user', () =>
  expect(
    tableOf('http://127.0.0.1:1', 'eu-central-1', { accessKeyId: 'a', secretAccessKey: 'b' })('keyplane-Table'),
  ).rejects.toThrow(/^DynamoDB at http:\/\/127\.0\.0\.1:1 cannot create the table keyplane-Table: .*ECONNREFUSED.*$/))
