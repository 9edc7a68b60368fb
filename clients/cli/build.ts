/** Bundles the command line into one file without dependencies, `dist/keyplane.js`, for Node.js 20 and later. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build, formatMessages } from 'esbuild'

const folder = import.meta.dirname

/** Writes the bundle to a file. The output depends on the sources only. Throws for errors and for warnings. */
export async function buildCommandLine(file: string): Promise<void> {
  const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string }
  const { warnings } = await build({
    absWorkingDir: folder,
    entryPoints: ['src/main.ts'],
    outfile: file,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    mainFields: ['module', 'main'],
    define: { KEYPLANE_VERSION: JSON.stringify(version) },
    legalComments: 'inline',
    logLevel: 'silent',
  })
  const texts = await formatMessages(warnings, { kind: 'warning' })
  if (texts.length > 0) throw new Error(texts.join('\n'))
}

if (import.meta.main) await buildCommandLine(join(folder, 'dist', 'keyplane.js'))
