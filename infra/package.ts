/** Packages the deployment: bundles, archives and the CloudFormation template in .serverless. Needs no network and no login. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { glob, mkdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Command, run } from './command.ts'
import { param, target, toolArguments } from './osls.ts'

const project = join(import.meta.dirname, '..')

export interface Packaged {
  /** Path of the CloudFormation template. */
  template: string
  /** Folder in which `functions/X.handler` of the template is `functions/X.mjs`. */
  bundles: string
}

/**
 * Packages the project with its default settings unless that was already done from the same sources. Several processes may
 * ask at once. Throws with what the packager printed when it fails; prints that when it succeeds unless `quiet`.
 */
export async function ensurePackaged({ quiet = false, root = project } = {}): Promise<Packaged> {
  const stamp = join(root, '.build', 'packaged.sha256')
  const digest = await digestOfSources(root)
  const isPackaged = async () => (await readFile(stamp, 'utf8').catch(() => '')) === digest
  if (!(await isPackaged())) {
    await alone(join(root, '.local', 'packaging.lock'), async () => {
      if (await isPackaged()) return
      await pack({ root, quiet, options: [] })
      await writeFile(stamp, digest)
    })
  }
  const template = join(root, '.serverless', 'cloudformation-template-update-stack.json')
  return { template, bundles: join(root, '.build') }
}

/** Bundling removes the stamp with all of .build, so a package with other options is never taken for the default one. */
async function pack({ root, quiet, options }: { root: string; quiet: boolean; options: readonly string[] }) {
  const { build } = await import('./build.ts')
  const bundles = await build(root)
  const osls = join(project, 'node_modules', 'serverless', 'bin', 'serverless.js')
  const packaging = promisify(execFile)(process.execPath, [osls, 'package', ...options], { cwd: root })
  // It writes what is wrong to standard output.
  const { stdout, stderr } = await packaging.catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`packaging failed:\n${error.stdout}${error.stderr}`)
  })
  if (!quiet) process.stdout.write(`${bundles.length} functions bundled\n${stdout}${stderr}`)
}

/** SHA-256 over the names and contents of everything the package is made of. */
async function digestOfSources(root: string): Promise<string> {
  const patterns = ['functions/**/*', 'lib/**/*', 'infra/*', 'infra/plugins/*', 'serverless.yml', 'package-lock.json']
  const entries = await Array.fromAsync(glob(patterns, { cwd: root, withFileTypes: true }))
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const hash = createHash('sha256')
  for (const file of files.sort()) {
    const contents = await readFile(file)
    hash.update(`${file.slice(root.length)}\0${contents.length}\0`).update(contents)
  }
  return hash.digest('hex')
}

/** Packaging takes seconds; a lock that is older was left by a process that died. */
const staleMilliseconds = 120_000

async function alone(lock: string, work: () => Promise<void>): Promise<void> {
  await mkdir(dirname(lock), { recursive: true })
  while (!(await mkdir(lock).then(() => true, isHeld))) {
    const made = await stat(lock).catch(() => undefined)
    if (made && Date.now() - made.mtimeMs > staleMilliseconds) await rmdir(lock)
    else await delay(50)
  }
  try {
    await work()
  } finally {
    await rmdir(lock)
  }
}

/** False when somebody holds the lock; anything else that keeps a folder from being made is an error. */
function isHeld(error: NodeJS.ErrnoException): false {
  if (error.code !== 'EEXIST') throw error
  return false
}

const COMMAND = {
  call: 'npm run package',
  about: `Writes what would be deployed: the CloudFormation template to .serverless, the archives of the functions to .build.
Needs no network and no login.`,
  options: {
    stage: { type: 'string', value: 'STAGE', help: target.stage.help },
    region: { type: 'string', value: 'REGION', help: target.region.help },
    param,
  },
} as const satisfies Command

if (import.meta.main) {
  await run(COMMAND, (settings) => pack({ root: project, quiet: false, options: toolArguments(settings) }))
}
