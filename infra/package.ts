/** Packages the deployment: bundles, archives and the CloudFormation template in .serverless. Requires no network and no login. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { glob, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import type { Bundle } from './build.ts'
import { type Command, runCommand } from './command.ts'
import { takeLock } from './exclusive.ts'
import { param, target, toolArguments, toolEnvironment } from './osls.ts'

const project = join(import.meta.dirname, '..')

export interface Packaged {
  /** Path of the CloudFormation template for every stage and all settings. */
  template: string
  /** Folder in which the handler `functions/X.handler` is the file `functions/X.mjs`. */
  bundles: string
}

/** Receives progress messages for the person who waits. */
export type Say = (sentence: string) => void

/**
 * Packages the project with its default settings, unless the existing package was built from the same sources. Several
 * processes may call this at once. Throws with the packager's output when it fails; prints it on success unless `quiet`.
 */
export async function ensurePackaged({
  quiet = false,
  root = project,
  say = () => {},
}: {
  quiet?: boolean
  root?: string
  say?: Say
} = {}): Promise<Packaged> {
  await unlessSourcesAre({ root, stamp: stampIn(root), say }, async () => {
    say('Packaging the functions. This takes some seconds, and is repeated only when sources change ...')
    await pack({ root, quiet, options: [] })
  })
  return { template: templateIn(root), bundles: join(root, '.build') }
}

/**
 * Does the work in `root`/.build, of one process at a time, unless the file `stamp` has the digest of the sources. The work writes
 * that file, of which it gets the text.
 */
export async function unlessSourcesAre(
  { root, stamp, say = () => {} }: { root: string; stamp: string; say?: Say },
  work: (digest: string) => Promise<void>,
): Promise<void> {
  const digest = await digestOfSources(root)
  const isDone = async () => (await readFile(stamp, 'utf8').catch(unlessMissing)) === digest
  if (await isDone()) return
  await withLock(join(root, '.local', 'package.lock'), say, async () => {
    if (!(await isDone())) await work(digest)
  })
}

function unlessMissing(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return ''
  throw error
}

/** The template that is deployed. */
const templateIn = (root: string) => join(root, '.serverless', 'cloudformation-template-update-stack.json')

/** The file with the digest of the sources of a package with the default settings. */
const stampIn = (root: string) => join(root, '.build', 'packaged.sha256')

interface Packing {
  root: string
  quiet: boolean
  /** Arguments of the packager. */
  options: readonly string[]
}

/** Bundling removes .build with the stamp, so a package with other options is never mistaken for the default one. */
async function pack({ root, quiet, options }: Packing) {
  const digest = await digestOfSources(root)
  const bundles = await bundle(root)
  const osls = join(project, 'node_modules', 'serverless', 'bin', 'serverless.js')
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [osls, 'package', ...options], {
    cwd: root,
    env: toolEnvironment(root),
  }).catch((error: { stdout: string; stderr: string }) => {
    // The packager writes errors to standard output.
    throw new Error(`packaging failed:\n${error.stdout}${error.stderr}`)
  })
  if (options.length === 0) await writeFile(stampIn(root), digest)
  if (!quiet) process.stdout.write(`${bundles.length} functions bundled\n${stdout}${stderr}`)
}

/** Bundles the functions in a thread of its own: that computes for seconds, and meanwhile this process handles signals. */
async function bundle(root: string): Promise<readonly Bundle[]> {
  const script = `
    const { parentPort, workerData } = require('node:worker_threads')
    import(workerData.builder).then(({ build }) => build(workerData.root)).then((bundles) => parentPort.postMessage(bundles))
  `
  const builder = pathToFileURL(join(project, 'infra', 'build.ts')).href
  const worker = new Worker(script, { eval: true, execArgv: [], workerData: { builder, root } })
  const [bundles] = await once(worker, 'message')
  return bundles
}

/** The files that the package depends on. The last one says which packages are installed. */
export const packagedSources = [
  'docs/*.md',
  'examples/**/*',
  'functions/**/*',
  'lib/**/*',
  'clients/cli/*',
  'clients/cli/bin/*',
  'clients/cli/src/**/*',
  'clients/console/*',
  'clients/console/src/**/*',
  'clients/core/src/**/*',
  'infra/*',
  'infra/documentation/*',
  'infra/made/*',
  'infra/settings/*',
  'infra/stack/*',
  'serverless.yml',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'node_modules/.package-lock.json',
]

/** Returns the SHA-256 over the names and contents of all files that the package depends on. */
async function digestOfSources(root: string): Promise<string> {
  const entries = await Array.fromAsync(glob(packagedSources, { cwd: root, withFileTypes: true }))
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const hash = createHash('sha256')
  for (const file of files.sort()) {
    // With a promise for each of a thousand files, it would take ten times as long.
    const contents = readFileSync(file)
    hash.update(`${file.slice(root.length)}\0${contents.length}\0`).update(contents)
  }
  return hash.digest('hex')
}

/** Runs the work while this process holds the lock on the file. */
async function withLock(file: string, say: Say, work: () => Promise<void>): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  let unlock = takeLock(file)
  if (unlock === undefined) say('Another process is packaging the functions; waiting ...')
  while (unlock === undefined) {
    await delay(50)
    unlock = takeLock(file)
  }
  try {
    await work()
  } finally {
    unlock()
  }
}

const COMMAND = {
  call: 'npm run package',
  about: `Writes the CloudFormation template to .serverless and the archives of the functions to .build, as deployed.
Requires no network and no login.`,
  options: {
    stage: { type: 'string', value: 'STAGE', help: target.stage.help },
    region: { type: 'string', value: 'REGION', help: target.region.help },
    param,
  },
} as const satisfies Command

if (import.meta.main) {
  await runCommand(COMMAND, (settings) => pack({ root: project, quiet: false, options: toolArguments(settings) }))
}
