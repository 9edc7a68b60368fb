/** What people get who have the npm package of the command line, or a clone of the repository, and nothing else. */
import { execFileSync } from 'node:child_process'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import packageFile from '../../../clients/cli/package.json' with { type: 'json' }

const root = join(import.meta.dirname, '../../..')

test('the links of its README lead to pages of others or to files of the package', async () => {
  const readme = await readFile(join(root, 'clients/cli/README.md'), 'utf8')
  const targets = [...readme.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  const packed = ['README.md', 'LICENSE', 'package.json', ...packageFile.files]
  expect(targets.filter((one) => !/^(https:|#)/.test(one) && !packed.includes(one))).toEqual([])
})

test('a clone of Git for Windows has the line ends of its programs', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keyplane-clone-'))
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'core.autocrlf=true', ...args], { cwd: folder, stdio: 'pipe' })
  try {
    const program = 'clients/cli/bin/keyplane.cjs'
    for (const name of ['.gitattributes', program]) await cp(join(root, name), join(folder, name))
    git('init')
    git('add', '.')
    await rm(join(folder, program))
    git('checkout', '--', program)
    expect(await readFile(join(folder, program), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
  } finally {
    await rm(folder, { recursive: true })
  }
})
