/** The npm package of the command line: installed from the deployment, and run with every Node.js of this machine. */

import { execFile } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../../../infra/local/gateway/gateway.ts'
import { issueLoopback, makeAuthority, validFor } from '../../../infra/local/host/certificates.ts'
import { ensurePackaged } from '../../../infra/package.ts'
import { readPage } from '../../support/commands.ts'
import { testFolder } from '../../support/folder.ts'
import { describeKubectl } from '../../support/kubectl.ts'
import { noResources } from '../../support/noresources.ts'
import { nodes } from './commandline.ts'

const root = join(import.meta.dirname, '../../..')
const run = promisify(execFile)
const { version } = JSON.parse(await readFile(join(root, 'clients/cli/package.json'), 'utf8')) as { version: string }

const folder = testFolder()
let bin: string
let installation: { stdout: string; stderr: string }
let gateway: Gateway | undefined
beforeAll(async () => {
  const authority = await makeAuthority('package', validFor(1, Date.now()))
  const { certificate: cert, key } = await issueLoopback(authority, Date.now())
  const { bundles: bundlesDir } = await ensurePackaged({ quiet: true })
  const [environment, address] = [noResources, { stage: 'prod' }]
  gateway = await startGateway({ bundlesDir, environment, unscheduled: true, address, tls: { cert, key } })
  const cafile = join(folder, 'ca.crt')
  await writeFile(cafile, authority.certificate)
  const page = await readPage('docs/command-line.md')
  const npm = {
    npm_config_cafile: cafile,
    npm_config_registry: 'http://127.0.0.1:9',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  }
  const env = { PATH: process.env.PATH, HOME: folder, ...npm }
  const commands = page.commandsOf('Install', 1, { 'https://keys.example.com': gateway.url })
  installation = await run('sh', ['-ec', commands], { cwd: folder, env })
  bin = join(folder, '.local/bin')
})
afterAll(() => gateway?.close())

test('contains the program, its bundle and nothing else, which are what npm packs', async () => {
  const entries = await readdir(join(bin, '../lib/node_modules/keyplane'), { recursive: true, withFileTypes: true })
  const files = entries.filter((one) => one.isFile()).map(({ name }) => name)
  expect(files.sort()).toEqual(['LICENSE', 'README.md', 'keyplane.cjs', 'keyplane.js', 'package.json'])
  const listed = await run(
    'npm',
    ['pack', '--workspace', 'clients/cli', '--dry-run', '--json', '--silent', '--ignore-scripts'],
    {
      cwd: root,
    },
  )
  const [packed] = Object.values(JSON.parse(listed.stdout)) as { files: { path: string }[] }[]
  expect(packed?.files.map(({ path }) => basename(path)).sort()).toEqual(files)
})

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
