/** Checks the lock file: exact versions, hashes, and few packages that may run install scripts. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const { satisfies } = createRequire(import.meta.url)('semver') as { satisfies(version: string, range: string): boolean }

interface Locked {
  engines?: { node?: string } | string[]
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

test('npm warns about no package on the Node.js versions in the README', async () => {
  const readme = await readFile(join(import.meta.dirname, '..', 'README.md'), 'utf8')
  const [, newest = '', oldest = ''] =
    /Node\.js (\d+) or later, or (\S+) or later in the 22 series\./.exec(readme) ?? []
  const versions = [`${oldest}.0`, `${newest}.0.0`]
  const nodeOf = ({ engines }: Locked) => (engines && !Array.isArray(engines) && engines.node) || '*'
  const warned = Object.entries(packages).filter(([, one]) =>
    versions.some((version) => !satisfies(version, nodeOf(one))),
  )
  expect(warned.map(([path]) => path)).toEqual([])
  expect(satisfies('20.20.2', manifest.engines.node)).toBe(false)
})

test('only listed packages may run install scripts', () => {
  const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const running = new Set(installed.filter(([, one]) => one.hasInstallScript).map(([path]) => nameOf(path)))
  expect([...running].filter((name) => !(name in manifest.allowScripts))).toEqual([])
})
