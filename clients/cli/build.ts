/** Bundles the command line into one file without dependencies, `dist/keyplane.js`, for Node.js 20 and later. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { build, formatMessages } from 'esbuild'

const folder = import.meta.dirname

/** Returns the bundle, which depends on the sources only. Throws for errors and for warnings. */
export async function bundleCommandLine(): Promise<Uint8Array> {
  const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string }
  const { warnings, outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: ['src/main.ts'],
    write: false,
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
  return outputFiles[0]?.contents ?? new Uint8Array()
}

/** Writes the bundle to a file. */
export async function buildCommandLine(file: string): Promise<void> {
  const bundle = await bundleCommandLine()
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, bundle)
}

if (import.meta.main) await buildCommandLine(join(folder, 'dist', 'keyplane.js'))
