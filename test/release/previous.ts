/** Builds the functions of the previous release, and of another commit, from the history of this repository. */
import { execFile } from 'node:child_process'
import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { madeOnce } from '../support/madeonce.ts'

/** The release before the one in the working tree. Every release moves it (CONTRIBUTING.md, "Cut a release"). */
export const PREVIOUS = { version: '0.1.0', commit: '6650284e3f342b1ad20fe19c4f580f9799a0a716' } as const

/** The last commit of 0.2.0 with a field of spec that this release no longer knows. */
export const WITH_FIELD = { version: '0.2.0 (unreleased)', commit: 'ec5a8c79b28ce710abef7962fd457e9736aada05' } as const

export interface Before {
  version: string
  commit: string
}

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')

/**
 * Returns the folder with the bundles of a release, by default the previous one, as `npm run build` of it writes them. Builds them once.
 * Throws when the history does not have the commit.
 */
export async function buildPrevious({ version, commit }: Before = PREVIOUS): Promise<string> {
  const folder = await madeOnce(`releases/${commit}`, async (folder) => {
    await extract(version, commit, folder)
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    await run(process.execPath, [join(folder, 'infra', 'build.ts')], { cwd: folder })
  })
  return join(folder, '.build')
}

async function extract(version: string, commit: string, folder: string): Promise<void> {
  const archive = `${folder}.tar`
  await run('git', ['archive', '--format=tar', `--output=${archive}`, commit], { cwd: root }).catch((error: Error) => {
    throw new Error(
      `The history of this checkout does not have commit ${commit} of release ${version}, whose functions these tests run. ` +
        'Fetch it with git fetch --unshallow, or correct it in test/release/previous.ts.',
      { cause: error },
    )
  })
  await run('tar', ['-xf', archive, '-C', folder])
  await rm(archive)
}
