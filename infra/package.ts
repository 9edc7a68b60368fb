/** Packages the deployment: bundles, archives and the CloudFormation template in .serverless. Needs no network and no login. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { glob, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const project = join(import.meta.dirname, '..')

export interface Packaged {
  /** Path of the CloudFormation template. */
  template: string
  /** Folder in which `functions/X.handler` of the template is `functions/X.mjs`. */
  bundles: string
}

/**
 * Packages the project with its default settings unless that was already done from the same sources. Throws what the
 * packager printed when it fails; prints where the time goes unless `quiet`.
 */
export async function ensurePackaged({ quiet = false, root = project } = {}): Promise<Packaged> {
  const packaged = { template: join(root, '.serverless', templateName), bundles: join(root, '.build') }
  const digest = await digestOfSources(root)
  const known = await readFile(join(root, '.build', stamp), 'utf8').catch(() => undefined)
  if (known !== digest) {
    await pack({ root, quiet, options: [] })
    await writeFile(join(root, '.build', stamp), digest)
  }
  return packaged
}

const templateName = 'cloudformation-template-update-stack.json'
const stamp = 'packaged.sha256'

async function pack({ root, quiet, options }: { root: string; quiet: boolean; options: readonly string[] }) {
  const say = (text: string) => quiet || process.stdout.write(`${text}\n`)
  const { build } = await import('./build.ts')
  const bundles = await build(root)
  say(`${bundles.length} functions bundled`)
  const osls = join(project, 'node_modules', 'serverless', 'bin', 'serverless.js')
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [osls, 'package', ...options], {
    cwd: root,
    env: { ...process.env, SLS_INTERACTIVE_SETUP_ENABLE: '', SLS_NOTIFICATIONS_MODE: 'off' },
  })
  say(`${stdout}${stderr}`.trim())
}

/** SHA-256 over the names and contents of everything the package is made of. */
async function digestOfSources(root: string): Promise<string> {
  const patterns = ['functions/**/*', 'lib/**/*', 'infra/**/*', 'serverless.yml', 'package-lock.json']
  const entries = await Array.fromAsync(glob(patterns, { cwd: root, withFileTypes: true }))
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const hash = createHash('sha256')
  for (const file of files.sort()) {
    const contents = await readFile(file)
    hash.update(`${file.slice(root.length)}\0${contents.length}\0`).update(contents)
  }
  return hash.digest('hex')
}

if (import.meta.main) {
  await pack({ root: project, quiet: false, options: process.argv.slice(2) })
}
