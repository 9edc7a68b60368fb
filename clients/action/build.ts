/** Bundles the Action into `dist/`, which is committed because the runner runs it as it is checked out. */
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
    platform: 'node',
    target: 'node24',
    format: 'esm',
    charset: 'utf8',
    logLevel: 'silent',
  })
  const doubts = await formatMessages(warnings, { kind: 'warning' })
  if (doubts.length > 0) throw new Error(doubts.join('\n'))
}

if (import.meta.main) await buildAction(join(folder, 'dist'))
