/** Packages the project for tests. Each process reads all sources once to know whether they have changed. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { bundling, functionNames, write } from '../../infra/build.ts'
import { ensurePackaged, type Packaged, unlessSourcesAre } from '../../infra/package.ts'

const root = join(import.meta.dirname, '../..')

let packaging: Promise<Packaged> | undefined
let embedding: Promise<string> | undefined

/** Returns the package of the project with its default settings. */
export function packaged(): Promise<Packaged> {
  packaging ??= ensurePackaged({ quiet: true })
  return packaging
}

/** Returns the folder of the bundles with the store in their process instead of DynamoDB. */
export function embeddedBundles(): Promise<string> {
  embedding ??= packaged().then(embed)
  return embedding
}

/** Bundles them unless that was done for the same sources. Packaging removes them. */
async function embed({ bundles }: Packaged): Promise<string> {
  const folder = join(bundles, 'embedded')
  const stamp = join(folder, 'sources.sha256')
  await unlessSourcesAre({ root, stamp }, async (digest) => {
    const { outputFiles } = await build(bundling(root, await functionNames(root), folder, ['embedded']))
    await Promise.all(outputFiles.map(({ path, contents }) => write(path, contents)))
    await writeFile(stamp, digest)
  })
  return folder
}
