/**
 * Bundles every function: functions/X.ts becomes .build/functions/X.mjs with .build/chunks, which the local server runs, and
 * .build/archives/X.zip, which is deployed. The output depends on the sources only, never on the time or the machine.
 */
import { glob, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type BuildOptions, build as esbuild, formatMessages, type Metafile, type Plugin, stop } from 'esbuild'
import { deflateSync } from 'fflate'
import { archiver } from './archive.ts'
import { runCommand } from './command.ts'

export interface Bundle {
  /** Path below functions/ without its extension, such as `ownedaccesskeys/create`. */
  name: string
  /** Bytes loaded when the function starts. */
  initial: number
  /** Bytes deployed with the function. */
  total: number
}

/** Some packages inside the bundles are CommonJS and require Node.js modules. The files with them begin with this. */
const require = "import{createRequire}from'node:module';const require=createRequire(import.meta.url);"

/** Lambda provides credentials in the environment. The SDK's other credential providers would be a quarter of a bundle. */
const environmentCredentials: Plugin = {
  name: 'environment-credentials',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@aws-sdk\/credential-provider-node$/ }, ({ resolveDir }) => ({
      path: 'credentials',
      namespace: 'environment-credentials',
      pluginData: resolveDir,
    }))
    onLoad({ filter: /.*/, namespace: 'environment-credentials' }, ({ pluginData }) => ({
      contents: `export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env'`,
      resolveDir: pluginData,
    }))
  },
}

/**
 * Provides the modules `keyplane:NAME`, which infra/made/NAME.ts exports. Functions contain their values as compressed JSON, and nothing
 * that they are made from.
 */
const madeModules = (root: string): Plugin => ({
  name: 'made-modules',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^keyplane:/ }, ({ path }) => ({ path, namespace: 'made-modules' }))
    onLoad({ filter: /.*/, namespace: 'made-modules' }, async ({ path }) => {
      const file = join(root, 'infra/made', `${path.slice('keyplane:'.length)}.ts`)
      // Node.js sorts the exports of a module, and loaders that stand in for it may not.
      const exported = Object.entries((await import(pathToFileURL(file).href)) as object).sort()
      const values = Object.fromEntries(exported)
      const packed = deflateSync(Buffer.from(JSON.stringify(values)), { level: 9 })
      return {
        contents: `import { inflateRawSync } from 'node:zlib'
          const packed = Buffer.from('${Buffer.from(packed).toString('base64')}', 'base64')
          export const { ${Object.keys(values)} } = JSON.parse(inflateRawSync(packed).toString())`,
      }
    })
  },
})

/** Returns the options that bundle functions into a folder, with the modules that `imports` of package.json names for the conditions. */
export const bundling = (root: string, names: readonly string[], outdir: string, conditions: readonly string[]) =>
  ({
    absWorkingDir: root,
    entryPoints: names.map((name) => `functions/${name}.ts`),
    outdir: resolve(root, outdir),
    outbase: '.',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // Shared code is emitted once, which makes the build many times faster; lazy imports stay lazy.
    splitting: true,
    chunkNames: 'chunks/[hash]',
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // The condition that esbuild has by default.
    conditions: ['module', ...conditions],
    // Tree shaking works on the SDK's ES modules but not on its CommonJS: a third fewer bytes.
    mainFields: ['module', 'main'],
    // Where node_modules is a link, the order of modules would depend on where it leads.
    preserveSymlinks: true,
    legalComments: 'none',
    logLevel: 'silent',
    metafile: true,
    plugins: [environmentCredentials, madeModules(root)],
    write: false,
  }) as const satisfies BuildOptions

/**
 * Bundles `root`/functions into `root`/.build. Returns the bundles sorted by name. Throws for errors and for warnings.
 */
export async function build(root: string): Promise<Bundle[]> {
  const names = await functionNames(root)
  const { warnings, outputFiles, metafile } = await esbuild(bundling(root, names, '.build', []))
  const doubts = await formatMessages(warnings, { kind: 'warning' })
  // Otherwise the esbuild process, of over 100 MB, would run as long as the local server that packages at startup.
  await stop()
  if (doubts.length > 0) throw new Error(doubts.join('\n'))

  const prefix = join(root, '.build')
  await rm(prefix, { recursive: true, force: true })
  await Promise.all(outputFiles.map(({ path, contents }) => write(path, contents)))
  const contentsOf = new Map(
    outputFiles.map(({ path, contents }) => [path.slice(prefix.length + 1).replaceAll('\\', '/'), contents]),
  )
  const filesOf = (paths: readonly string[]): Record<string, Uint8Array> =>
    Object.fromEntries(
      paths.map((path) => path.slice('.build/'.length)).map((path) => [path, contentsOf.get(path) as Uint8Array]),
    )
  const archive = archiver()
  return Promise.all(
    names.map(async (name) => {
      const path = `.build/functions/${name}.mjs`
      const all = filesOf(importsOf(path, metafile, true))
      // Archives are uploaded under the last segment of their path, which must be unique.
      await write(join(prefix, 'archives', `${name.replaceAll('/', '-')}.zip`), archive(all))
      const initial = filesOf(importsOf(path, metafile, false))
      return { name, initial: sizeOf(initial), total: sizeOf(all) }
    }),
  )
}

/** Returns the functions of a project, sorted: their paths below functions/ without the extension. */
export async function functionNames(root: string): Promise<string[]> {
  const files = await Array.fromAsync(glob('**/*.ts', { cwd: join(root, 'functions') }))
  return files.map((file) => file.slice(0, -'.ts'.length).replaceAll('\\', '/')).sort()
}

/** Returns an output followed by its transitive imports, with or without dynamic ones. */
function importsOf(path: string, { outputs }: Metafile, lazily: boolean): string[] {
  const found = new Set([path])
  for (const one of found) {
    for (const { path: other, kind, external } of outputs[one]?.imports ?? []) {
      if (!external && (lazily || kind !== 'dynamic-import')) found.add(other)
    }
  }
  return [...found]
}

const sizeOf = (files: Record<string, Uint8Array>) => Object.values(files).reduce((sum, { length }) => sum + length, 0)

/** Writes a file of a bundle. */
export async function write(path: string, contents: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const text = Buffer.from(contents)
  await writeFile(path, text.includes('require') ? Buffer.concat([Buffer.from(require), text]) : text)
}

if (import.meta.main) {
  const kilobytes = (size: number) => String(Math.ceil(size / 1024)).padStart(5)
  const about = 'Bundles every function into .build and prints the size of each bundle.'
  await runCommand({ call: 'npm run build', about, options: {} }, async () => {
    process.stdout.write('KiB at start, of all\n')
    for (const { name, initial, total } of await build(join(import.meta.dirname, '..'))) {
      process.stdout.write(`${kilobytes(initial)} ${kilobytes(total)}  ${name}\n`)
    }
  })
}
