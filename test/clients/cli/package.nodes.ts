/** The npm package of the command line: packed, installed elsewhere, and run with every Node.js of this machine. */

import { execFile } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { readPage } from '../../support/commands.ts'
import { testFolder } from '../../support/folder.ts'
import { describeKubectl } from '../../support/kubectl.ts'
import { nodes } from './commandline.ts'

const root = join(import.meta.dirname, '../../..')
const run = promisify(execFile)
const { version } = JSON.parse(await readFile(join(root, 'clients/cli/package.json'), 'utf8')) as { version: string }

const folder = testFolder()
let bin: string
let archive: string[]
let installation: { stdout: string; stderr: string }
beforeAll(async () => {
  const npm = (...args: string[]) =>
    run('npm', [...args, '--no-audit', '--no-fund', '--no-update-notifier'], { cwd: root })
  const packed = await npm('pack', '--workspace', 'clients/cli', '--pack-destination', folder, '--json', '--silent')
  const written: unknown = JSON.parse(packed.stdout.slice(packed.stdout.search(/^[[{]/m)))
  const [one] = Object.values(written as object) as { files: { path: string }[] }[]
  archive = (one?.files ?? []).map(({ path }) => path).sort()
  const page = await readPage('docs/command-line.md')
  const quiet = { npm_config_audit: 'false', npm_config_fund: 'false', npm_config_update_notifier: 'false' }
  const env = { PATH: process.env.PATH, HOME: folder, npm_config_offline: 'true', ...quiet }
  installation = await run('sh', ['-ec', page.commandsOf('Install', 2)], { cwd: folder, env })
  bin = join(folder, '.local/bin')
})

test('contains the program, its bundle and nothing else', () =>
  expect(archive).toEqual(['LICENSE', 'README.md', 'bin/keyplane.cjs', 'dist/keyplane.js', 'package.json']))

test('is installed without other packages and without scripts', async () => {
  expect(await readdir(join(bin, '../lib/node_modules'))).toEqual(['keyplane'])
  expect(installation.stderr).not.toMatch(/script/i)
  expect(installation.stdout.split('\n').at(-2)).toBe(version)
  expect(await readFile(join(bin, '../lib/node_modules/keyplane/LICENSE'), 'utf8')).toBe(
    await readFile(join(root, 'LICENSE'), 'utf8'),
  )
})

test.each(nodes)('runs on Node.js $version by both names', async ({ path }) => {
  const env = { PATH: [dirname(path), '/usr/bin', '/bin'].join(delimiter), HOME: folder }
  const ran = await Promise.all(
    ['keyplane', 'kubectl-keyplane'].map((name) => run(join(bin, name), ['--version'], { env })),
  )
  expect(ran).toEqual([
    { stdout: `${version}\n`, stderr: '' },
    { stdout: `${version}\n`, stderr: '' },
  ])
})

test('says which Node.js it needs', async () => {
  const pretend = join(folder, 'pretend.cjs')
  await writeFile(pretend, "Object.defineProperty(process, 'versions', { value: { node: '18.20.4' } })")
  const running = run(process.execPath, ['-r', pretend, join(bin, 'keyplane')])
  await expect(running).rejects.toMatchObject({
    code: 1,
    stderr: 'keyplane requires Node.js 20.15 or later, and this is 18.20.4.\n',
  })
})

describeKubectl('kubectl', () => {
  test('runs it as a plugin, whose help names it so', async () => {
    const { KUBEBUILDER_ASSETS, PATH } = process.env
    const folders = [bin, dirname(process.execPath), KUBEBUILDER_ASSETS, PATH].filter(Boolean)
    const env = { PATH: folders.join(delimiter), HOME: folder }
    const { stdout } = await run('kubectl', ['keyplane', 'keys', 'create', '--help'], { env })
    expect(stdout).toMatch(
      /^Usage: kubectl keyplane keys create \[NAME\] [\s\S]*^ {2}kubectl keyplane keys create ci /m,
    )
  })
})
