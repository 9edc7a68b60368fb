/** The pages beside the kinds say what their schemas say. With `-u` after the name of this file, vitest writes them anew. */
import { expect, test } from 'vitest'
import { kinds } from '../../../lib/apis/index.ts'
import { group } from '../../../lib/apis/management/v1/group.ts'
import { verbsOf } from '../../../lib/endpoints/discovery.ts'
import { referencePage } from '../../support/referencepage.ts'

test.each(kinds.filter((kind) => kind.group === group))('$kind', async (kind) => {
  const page = referencePage({ ...kind, verbs: verbsOf(kind) })
  await expect(page).toMatchFileSnapshot(`../../../lib/apis/management/${kind.version}/${kind.kind.toLowerCase()}.md`)
})
