/**
 * Bundles every function: functions/X.ts becomes .build/functions/X.mjs with .build/chunks, which the local server runs, and
 * .build/archives/X.zip, which is deployed. Both depend on the sources only, never on the time or the machine.
 */
import { glob, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { build as esbuild, formatMessages, type Metafile, type Plugin, stop } from 'esbuild'
import { run } from './command.ts'
import { archive, type Entry, entry } from './zip.ts'

export interface Bundle {
  /** Path below functions/ without its ending: `ownedaccesskeys/create`. */
  name: string
  /** Bytes that are loaded when the function starts. */
  initial: number
  /** Bytes of all that is deployed with it. */
  total: number
}

/** Some packages inside the bundles are CommonJS and require Node.js modules. */
const require = "import{createRequire}from'node:module';const require=createRequire(import.meta.url);"

/** A Lambda has its credentials in the environment. Every other source that the SDK brings is a quarter of a bundle. */
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

/** Bundles all of `root`/functions into `root`/.build and returns the bundles sorted by name. Throws for errors and warnings. */
export async function build(root: string): Promise<Bundle[]> {
  const names = await functionNames(root)
  const { outputFiles, metafile, warnings } = await esbuild({
    absWorkingDir: root,
    entryPoints: names.map((name) => `functions/${name}.ts`),
    outdir: join(root, '.build'),
    outbase: '.',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // What functions share is printed once, which makes this many times quicker, and what is imported lazily is read lazily.
    splitting: true,
    chunkNames: 'chunks/[hash]',
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // The SDK's ES modules can be shaken, its CommonJS cannot: a third fewer bytes.
    mainFields: ['module', 'main'],
    banner: { js: require },
    legalComments: 'none',
    logLevel: 'silent',
    metafile: true,
    plugins: [environmentCredentials],
    write: false,
  })
  const doubts = await formatMessages(warnings, { kind: 'warning' })
  // Its process would stay, with more than 100 MB, as long as the local server that packages when it starts.
  await stop()
  if (doubts.length > 0) throw new Error(doubts.join('\n'))

  const prefix = join(root, '.build')
  await rm(prefix, { recursive: true, force: true })
  const entries = await Promise.all(
    outputFiles.map(async ({ path, contents }) => {
      await write(path, contents)
      return entry(path.slice(prefix.length + 1).replaceAll('\\', '/'), contents)
    }),
  )
  const byPath = new Map(entries.map((one) => [`.build/${one.path}`, one]))
  return Promise.all(
    names.map(async (name) => {
      const path = `.build/functions/${name}.mjs`
      const all = parts(path, metafile, true).map((part) => byPath.get(part) as Entry)
      // Archives are uploaded by the last step of their path: no two may have the same.
      await write(join(prefix, 'archives', `${name.replaceAll('/', '-')}.zip`), archive(all))
      const initial = parts(path, metafile, false).map((part) => byPath.get(part) as Entry)
      return { name, initial: bytes(initial), total: bytes(all) }
    }),
  )
}

/** The functions of a project: paths below functions/ without the ending, sorted. */
export async function functionNames(root: string): Promise<string[]> {
  const files = await Array.fromAsync(glob('**/*.ts', { cwd: join(root, 'functions') }))
  return files.map((file) => file.slice(0, -'.ts'.length).replaceAll('\\', '/')).sort()
}

/** The outputs that an output needs, itself first, with or without those that it imports when it runs. */
function parts(path: string, { outputs }: Metafile, lazily: boolean): string[] {
  const found = new Set([path])
  for (const one of found) {
    for (const { path: other, kind, external } of outputs[one]?.imports ?? []) {
      if (!external && (lazily || kind !== 'dynamic-import')) found.add(other)
    }
  }
  return [...found]
}

const bytes = (entries: readonly Entry[]) => entries.reduce((sum, { size }) => sum + size, 0)

async function write(path: string, contents: Uint8Array) {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, contents)
}

if (import.meta.main) {
  const kilobytes = (size: number) => String(Math.ceil(size / 1024)).padStart(5)
  const about = 'Bundles every function into .build, and prints how large each is.'
  await run({ call: 'npm run build', about, options: {} }, async () => {
    process.stdout.write('KiB at start, of all\n')
    for (const { name, initial, total } of await build(join(import.meta.dirname, '..'))) {
      process.stdout.write(`${kilobytes(initial)} ${kilobytes(total)}  ${name}\n`)
    }
  })
}
