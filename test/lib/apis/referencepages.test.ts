/** Compares the reference pages with the schemas. Run vitest on this file with `-u` to regenerate the pages. */
import { expect, test } from 'vitest'
import { verbsOf } from '../../../infra/documents/discovery.ts'
import { kinds } from '../../../lib/apis/index.ts'
import { MANAGEMENT_GROUP } from '../../../lib/kinds/kinds.ts'
import { referencePage } from '../../support/referencepage.ts'

test.each(kinds.filter((kind) => kind.group === MANAGEMENT_GROUP))(
  'the page of $kind matches its schema',
  async (kind) => {
    const page = referencePage({ ...kind, verbs: verbsOf(kind) })
    await expect(page).toMatchFileSnapshot(`../../../lib/apis/management/${kind.version}/${kind.kind.toLowerCase()}.md`)
  },
)
