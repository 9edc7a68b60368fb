/** Which Node.js the commands run on, and the messages for an old one and for missing modules. */

import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, realpath, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { transform } from 'esbuild'
import { expect, test } from 'vitest'
import { testFolder } from '../support/folder.ts'

const root = join(import.meta.dirname, '../..')
const { scripts, engines } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
  engines: { node: string }
}
const require = createRequire(import.meta.url)
const { linkPackagedNode, packagedNode } = require(join(root, 'infra/packagednode.cjs')) as {
  linkPackagedNode(root: string): void
  packagedNode(root: string): { program: string; link: string }
}
const { problem } = require(join(root, 'infra/preflight.cjs')) as {
  problem(root: string, node: string): string | undefined
}
const { program, link } = packagedNode('')
const [, major = '', minor = ''] = /^>=(\d+)\.(\d+)\.0$/.exec(engines.node) ?? []

const folder = testFolder()

const installed = { 'node_modules/.package-lock.json': '{}' }
const WORKS = '#!/bin/sh\n'
/** As the program for glibc is on musl. */
const BROKEN = '#!/lib/ld-missing.so\n'

/** Makes a checkout with these files, and returns its folder. */
async function checkout(files: Record<string, string>): Promise<string> {
  const cwd = await mkdtemp(join(folder, 'checkout-'))
  for (const [file, contents] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, file)), { recursive: true })
    await writeFile(join(cwd, file), contents, { mode: 0o755 })
  }
  return cwd
}

const tooOld = (version: string, remedy: string) =>
  `keyplane requires Node.js ${major}.${minor} or later, and this is ${version}: ${remedy}.`

test('every command that runs Node.js preloads the check', () => {
  const { preprepare, ...others } = scripts
  expect(preprepare).toBe('node infra/packagednode.cjs')
  const running = Object.entries(others).filter(([, script]) => /^node|vitest|\.ts\b/.test(script))
  expect(running.length).toBeGreaterThan(12)
  const unprepared = running.filter(([, script]) => !script.startsWith('node -r ./infra/preflight.cjs '))
  expect(unprepared).toEqual([])
})

test.each(['preflight', 'packagednode'])('%s.cjs runs on an old Node.js', async (name) => {
  const source = await readFile(join(root, `infra/${name}.cjs`), 'utf8')
  const [old, newest] = await Promise.all(
    ['node10', 'esnext'].map(async (target) => (await transform(source, { target })).code),
  )
  expect(old).toBe(newest)
})

const INSTALL = 'install a newer one, because npm ci has installed none that runs here'
const PREPARE = 'run npm run prepare, so that npm uses the version that npm ci has installed'
const USE_NPM = 'run it with npm, which uses the version that npm ci has installed'

test('accepts what package.json names, and every later Node.js', async () => {
  const cwd = await checkout(installed)
  for (const version of [`${major}.${minor}.0`, `${major}.100.0`, `${Number(major) + 1}.0.0`])
    expect(problem(cwd, version)).toBeUndefined()
  for (const version of ['22.19.0', `${major}.${Number(minor) - 1}.9`])
    expect(problem(cwd, version)).toBe(tooOld(version, INSTALL))
})

test.each([
  ['installed none', {}, INSTALL],
  ['installed one that does not run', { [program]: BROKEN }, INSTALL],
  ['installed one that npm does not find', { [program]: WORKS }, PREPARE],
  ['installed one that npm uses', { [program]: WORKS, [link]: WORKS }, USE_NPM],
])('says what to do about an older Node.js where npm ci has %s', async (_, files, remedy) => {
  const cwd = await checkout({ ...installed, ...files })
  expect(problem(cwd, '20.20.2')).toBe(tooOld('20.20.2', remedy))
})

test('reports missing dependencies, also where Yarn has installed some', async () => {
  const cwd = await checkout({ 'node_modules/.yarn-state.yml': '' })
  expect(problem(cwd, process.versions.node)).toBe(
    `The dependencies of keyplane are not installed: run npm ci in ${cwd}, with npm 7 or later.`,
  )
})

const run = (node: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(node, args, { cwd: root, encoding: 'utf8' })
  return { status, stdout, stderr }
}

const older = (process.env.PATH ?? '').split(delimiter).flatMap((place) => {
  const node = join(place, 'node')
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout?.trim().slice(1) ?? ''
  return version !== '' && Number.parseInt(version, 10) < Number(major) ? [{ node, version }] : []
})

test.skipIf(older.length === 0)('an older Node.js on this machine prints the message instead of failing', () => {
  for (const { node, version } of older) {
    const stderr = `${problem(root, version)}\n`
    expect(run(node, '-r', './infra/preflight.cjs', 'infra/local/main.ts')).toEqual({ status: 1, stdout: '', stderr })
  }
})

test('Yarn runs the check instead of itself, and the check refuses it', async () => {
  const [, yarn = ''] = /^yarnPath: (.+)$/m.exec(await readFile(join(root, '.yarnrc.yml'), 'utf8')) ?? []
  const stderr = `keyplane is installed with npm 7 or later, not with Yarn: run npm ci in ${root}.\n`
  expect(run(process.execPath, yarn, 'start')).toEqual({ status: 1, stdout: '', stderr })
})

test('the packaged Node.js goes where npm looks first, unless one is there', async () => {
  const cwd = await checkout({ [program]: WORKS })
  for (let times = 0; times < 2; times++) {
    linkPackagedNode(cwd)
    expect(await realpath(join(cwd, link))).toBe(join(cwd, program))
  }
})

test.each([
  ['none is installed', {}],
  ['it does not run', { [program]: BROKEN }],
])('npm uses the Node.js of the PATH if %s', async (_, files) => {
  const cwd = await checkout(files)
  linkPackagedNode(cwd)
  await expect(realpath(join(cwd, link))).rejects.toMatchObject({ code: 'ENOENT' })
})
