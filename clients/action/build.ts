/** Bundles the Action into `dist/`, which is committed because the runner runs it as it is checked out. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build, formatMessages } from 'esbuild'

const folder = import.meta.dirname

/** Writes the bundles to a folder. They depend on the sources only. Throws for errors and for warnings. */
export async function buildAction(outdir: string): Promise<void> {
  const { warnings } = await build({
    absWorkingDir: folder,
    entryPoints: ['main', 'post', 'credential'].map((name) => `src/${name}.ts`),
    outdir,
    bundle: true,
    // What the programs share is emitted once.
    splitting: true,
    chunkNames: 'shared-[hash]',
    platform: 'node',
    target: 'node24',
    format: 'esm',
    charset: 'utf8',
    logLevel: 'silent',
  })
  const texts = await formatMessages(warnings, { kind: 'warning' })
  if (texts.length > 0) throw new Error(texts.join('\n'))
}

if (import.meta.main) {
  const dist = join(folder, 'dist')
  for (const name of await readdir(dist)) await rm(join(dist, name))
  await buildAction(dist)
}
