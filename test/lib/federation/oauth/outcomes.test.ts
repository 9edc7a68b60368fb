/** Tests that the page about audit records explains every outcome of the OAuth endpoints. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { OUTCOMES } from '../../../../lib/federation/oauth/outcomes.ts'

test('docs/audit.md has the row of each outcome', async () => {
  const page = await readFile(join(import.meta.dirname, '../../../../docs/audit.md'), 'utf8')
  const rows = OUTCOMES.map(([names, meaning]) => `| ${names.map((name) => `\`${name}\``).join(', ')} | ${meaning} |`)
  expect(page).toContain(`| reason | meaning |\n|---|---|\n${rows.join('\n')}\n`)
})

test('no outcome is in two rows', () => {
  const names = OUTCOMES.flatMap(([names]) => names)
  expect(names).toEqual([...new Set(names)])
})
