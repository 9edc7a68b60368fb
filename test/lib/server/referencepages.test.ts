/** Compares the reference pages with the schemas. Run vitest on this file with `-u` to regenerate the pages. */
import { glob } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { verbsOf } from '../../../lib/engine/documents/discovery.ts'
import { MANAGEMENT_GROUP } from '../../../lib/kinds.ts'
import { kinds } from '../../../lib/server/servedkinds.ts'
import { referencePage } from '../../support/referencepage.ts'

const root = join(import.meta.dirname, '../../..')

/** Returns the folder of the module of a kind. */
async function folderOf(kind: string): Promise<string> {
  const [module] = await Array.fromAsync(glob(`lib/*/${kind.toLowerCase()}.ts`, { cwd: root }))
  if (module === undefined) throw new Error(`no module of ${kind}`)
  return join(root, dirname(module))
}

test.each(kinds.filter((kind) => kind.group === MANAGEMENT_GROUP))(
  'the page of $kind matches its schema',
  async (kind) => {
    const page = referencePage({ ...kind, verbs: verbsOf(kind) })
    await expect(page).toMatchFileSnapshot(join(await folderOf(kind.kind), `${kind.kind.toLowerCase()}.md`))
  },
)
