/**
 * Writes the files of a release: what others need to deploy keyplane without this repository. The bytes depend on the sources and
 * on package-lock.json only, except the statement of provenance, which names the version of Node.js.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { functionNames } from './build.ts'
import { type Command, runCommand } from './command.ts'
import { ensurePackaged } from './package.ts'
import { billOfMaterials, checksums, provenance } from './release/statements.ts'
import { releaseTemplate } from './release/template.ts'

const run = promisify(execFile)
const project = join(import.meta.dirname, '..')

export interface Release {
  /** Folder with the files. */
  folder: string
  version: string
  /** Names of the files, sorted. */
  files: string[]
}

export interface Sources {
  root: string
  /** The commit that they are of, for the statement of provenance. */
  commit?: string | undefined
}

/** Writes the release of the sources to a folder, which it empties first. */
export async function release(folder: string, { root, commit }: Sources): Promise<Release> {
  const { template: file, bundles } = await ensurePackaged({ quiet: true, root })
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
  const files = new Map<string, Uint8Array | string>()
  const archives = new Map<string, string>()
  for (const path of await functionNames(root)) {
    const flat = path.replaceAll('/', '-')
    const archive = await readFile(join(bundles, 'archives', `${flat}.zip`))
    const file = `${flat}-${digestOf(archive).slice(0, 16)}.zip`
    archives.set(`functions/${path}`, file)
    files.set(`functions/${file}`, archive)
  }
  const template = releaseTemplate(JSON.parse(await readFile(file, 'utf8')), version, archives)
  files.set('keyplane.template.json', `${JSON.stringify(template)}\n`)
  const { packCommandLine } = (await import(
    pathToFileURL(join(root, 'infra/commandlinepackage.ts')).href
  )) as typeof import('./commandlinepackage.ts')
  const packed = await packCommandLine()
  files.set(`keyplane-${packed.version}.tgz`, packed.contents)
  const lock = await readFile(join(root, 'package-lock.json'))
  files.set('keyplane.cdx.json', billOfMaterials(JSON.parse(String(lock)), version))

  const digests = new Map([...files].sort().map(([name, contents]) => [name, digestOf(contents)]))
  files.set('SHA256SUMS', checksums(digests))
  files.set(
    'keyplane.intoto.json',
    provenance(digests, {
      version,
      node: process.version,
      lock: digestOf(lock),
      commit,
    }),
  )
  await rm(folder, { recursive: true, force: true })
  await mkdir(join(folder, 'functions'), { recursive: true })
  for (const [name, contents] of files) await writeFile(join(folder, name), contents)
  return { folder, version, files: [...files.keys()].sort() }
}

const digestOf = (contents: Uint8Array | string) => createHash('sha256').update(contents).digest('hex')

/** Returns the commit of the project, or undefined outside a repository and with changes that are not committed. */
export async function commitOf(cwd: string): Promise<string | undefined> {
  try {
    const { stdout: changes } = await run('git', ['status', '--porcelain', '--untracked-files=normal'], { cwd })
    const { stdout: commit } = await run('git', ['rev-parse', 'HEAD'], { cwd })
    return changes === '' ? commit.trim() : undefined
  } catch {
    return undefined
  }
}

const COMMAND = {
  call: 'npm run release',
  about: `Writes the files of a release: the CloudFormation template, the archives of the functions, the npm package of the
command line, checksums, a bill of materials (CycloneDX) and an unsigned statement of provenance (in-toto).
Requires no network and no login.`,
  options: { out: { type: 'string', value: 'FOLDER', default: '.release', help: 'where to write them' } },
} as const satisfies Command

if (import.meta.main) {
  await runCommand(COMMAND, async ({ out }) => {
    const commit = await commitOf(project)
    const { folder, version, files } = await release(resolve(project, out), { root: project, commit })
    const source = commit === undefined ? 'no commit, because files have changes' : `commit ${commit}`
    process.stdout.write(`keyplane ${version}: ${files.length} files in ${folder}, from ${source}\n`)
  })
}
