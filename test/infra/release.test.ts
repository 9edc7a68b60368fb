/** The files of a release: the same bytes in every folder, and a template that needs only them. */

import { execFile } from 'node:child_process'
import { cpSync } from 'node:fs'
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { commitOf, type Release, release } from '../../infra/release.ts'
import { testFolder } from '../support/folder.ts'

const project = join(import.meta.dirname, '../..')
const sources = [
  'docs',
  'examples',
  'lib',
  'functions',
  'infra',
  'clients',
  'serverless.yml',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
]

const folder = testFolder()
let first: Release
let second: Release
beforeAll(async () => {
  // As in a container whose user has no home folder.
  vi.stubEnv('HOME', '/dev/null/home')
  const root = join(folder, 'copy')
  // The one with promises takes a second for these files.
  for (const name of sources) cpSync(join(project, name), join(root, name), { recursive: true })
  await symlink(join(project, 'node_modules'), join(root, 'node_modules'))
  // As of a clone with another umask, and of one on Windows, where no file is marked as a program.
  await promisify(execFile)('chmod', ['-R', 'go=', join(root, 'clients')])
  await chmod(join(root, 'clients/cli/bin/keyplane.cjs'), 0o600)
  first = await release(join(folder, 'first'), { root: project })
  second = await release(join(folder, 'second'), { root })
})
afterAll(() => {
  vi.unstubAllEnvs()
})

const read = (name: string, { folder } = first) => readFile(join(folder, name))

test('two folders with the same sources have the same bytes', async () => {
  expect(second.files).toEqual(first.files)
  const different: string[] = []
  for (const name of first.files) if (!(await read(name)).equals(await read(name, second))) different.push(name)
  expect(different).toEqual([])
})

test('the statement names the commit only if no file differs from it, whatever the settings of git', async () => {
  const cwd = join(folder, 'repository')
  const git = (...args: string[]) =>
    promisify(execFile)('git', ['-c', 'user.name=a', '-c', 'user.email=a', '-c', 'commit.gpgsign=false', ...args], {
      cwd,
    })
  await mkdir(cwd)
  await git('init', '--quiet')
  await git('commit', '--quiet', '--allow-empty', '--message=a')
  await git('config', 'status.showUntrackedFiles', 'no')
  expect(await commitOf(cwd)).toMatch(/^[0-9a-f]{40}$/)
  await writeFile(join(cwd, 'function.ts'), '')
  expect(await commitOf(cwd)).toBeUndefined()
  expect(await commitOf(tmpdir())).toBeUndefined()
})

test('the template names the archives below a bucket and a prefix of the user, and no other bucket', async () => {
  const text = String(await read('keyplane.template.json'))
  const { Resources, Parameters } = JSON.parse(text)
  expect(Object.keys(Parameters)).toEqual(expect.arrayContaining(['ArtifactBucket', 'ArtifactPrefix', 'Stage']))
  const codes = Object.values<{ Type: string; Properties: { Code: unknown } }>(Resources).flatMap(
    ({ Type, Properties }) => (Type === 'AWS::Lambda::Function' ? [Properties.Code] : []),
  )
  const archives = first.files.filter((name) => name.startsWith('functions/'))
  const expected = archives.map((name) => ({
    S3Bucket: { Ref: 'ArtifactBucket' },
    S3Key: { 'Fn::Sub': `\${ArtifactPrefix}${name.slice('functions/'.length)}` },
  }))
  expect(codes).toHaveLength(expected.length)
  expect(codes).toEqual(expect.arrayContaining(expected))
  expect(text).not.toMatch(/ServerlessDeployment|serverless\//)
})

// AWS CloudFormation quotas: 1 MB in S3, 500 resources.
test('the template is below the limits of CloudFormation', async () => {
  const text = await read('keyplane.template.json')
  expect(text.length).toBeLessThan(1_000_000)
  expect(Object.keys(JSON.parse(String(text)).Resources).length).toBeLessThanOrEqual(460)
})

test('checksums and provenance have every other file, and the bill of materials what functions contain', async () => {
  const others = first.files.filter((name) => !['SHA256SUMS', 'keyplane.intoto.json'].includes(name))
  const sums = String(await read('SHA256SUMS'))
    .trim()
    .split('\n')
    .map((line) => line.split('  '))
  expect(sums.map(([, name]) => name)).toEqual(others)
  const { subject, predicateType } = JSON.parse(String(await read('keyplane.intoto.json')))
  expect(predicateType).toBe('https://slsa.dev/provenance/v1')
  expect(subject).toEqual(sums.map(([sha256, name]) => ({ name, digest: { sha256 } })))
  const { bomFormat, components } = JSON.parse(String(await read('keyplane.cdx.json')))
  const names = components.map(({ name }: { name: string }) => name)
  expect([bomFormat, names]).toEqual(['CycloneDX', expect.arrayContaining(['jose', 'js-yaml'])])
  expect(names).not.toContain('esbuild')
})
