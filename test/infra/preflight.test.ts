/** The messages for an old Node.js and for missing modules. */
import { spawnSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { transform } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const preflight = join(root, 'infra/preflight.cjs')
const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyplane-preflight-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const run = (node: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(node, args, { cwd: root, encoding: 'utf8' })
  return { status, stdout, stderr }
}

const tooOld = (version: string) => ({
  status: 1,
  stdout: '',
  stderr: `keyplane requires Node.js 24, and this is ${version}: run it with npm, which uses the version that npm ci installs.\n`,
})

test('every command that runs Node.js preloads the check', () => {
  const running = Object.entries(scripts).filter(([, script]) => /^node|vitest|\.ts\b/.test(script))
  expect(running.length).toBeGreaterThan(12)
  const unprepared = running.filter(([, script]) => !script.startsWith('node -r ./infra/preflight.cjs '))
  expect(unprepared).toEqual([])
})

test('runs on an old Node.js', async () => {
  const source = await readFile(preflight, 'utf8')
  const [old, newest] = await Promise.all(
    ['node10', 'esnext'].map(async (target) => (await transform(source, { target })).code),
  )
  expect(old).toBe(newest)
})

test('reports an older Node.js', async () => {
  const pretend = join(folder, 'pretend.cjs')
  await writeFile(pretend, "Object.defineProperty(process, 'versions', { value: { node: '22.19.0' } })")
  expect(run(process.execPath, '-r', pretend, '-r', preflight, 'infra/build.ts')).toEqual(tooOld('22.19.0'))
})

const older = (process.env.PATH ?? '').split(delimiter).flatMap((place) => {
  const node = join(place, 'node')
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout?.trim().slice(1) ?? ''
  return version !== '' && Number.parseInt(version, 10) < 24 ? [{ node, version }] : []
})

test.skipIf(older.length === 0)('an older Node.js on this machine prints the message instead of failing', () => {
  for (const { node, version } of older) {
    expect(run(node, '-r', preflight, 'infra/local/main.ts')).toEqual(tooOld(version))
  }
})

test('reports missing dependencies', async () => {
  await mkdir(join(folder, 'infra'))
  await cp(preflight, join(folder, 'infra/preflight.cjs'))
  expect(run(process.execPath, '-r', join(folder, 'infra/preflight.cjs'), 'infra/build.ts')).toEqual({
    status: 1,
    stdout: '',
    stderr: `The dependencies of keyplane are not installed: run npm ci in ${folder}.\n`,
  })
})
