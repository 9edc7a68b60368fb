/**
 * Commits groups of three writes, and prints the sort key of each one that is acknowledged, or the fault at which it ends: the file,
 * the number of groups.
 */

import { writeSync } from 'node:fs'
import { argv } from 'node:process'
import type { ItemsFault } from '../../../../../lib/engine/storage/items.ts'
import { itemsOf } from '../../../../../lib/engine/storage/sqlite/sqlite.ts'
import { openTable } from '../../../../../lib/engine/storage/sqlite/table.ts'

const [, , path = '', groups = ''] = argv
const items = itemsOf(openTable(path, Date.now), Date.now)
const stop = ({ kind }: ItemsFault): never => {
  writeSync(1, `${kind}\n`)
  process.exit()
}
for (let group = 0; group < Number(groups); group++) {
  await Promise.all(
    ['a', 'b', 'c'].map(async (name) => {
      const sk = `${group}${name}`
      await items.transact([{ type: 'put', item: { pk: 'p', sk } }], Number.POSITIVE_INFINITY).catch(stop)
      writeSync(1, `${sk}\n`)
    }),
  )
}
process.exit()
