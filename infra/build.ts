/**
 * Bundles every function: functions/X.ts becomes .build/functions/X.mjs, which the local server runs, and X.zip, which is deployed.
 * Both depend on the sources only, never on the time or the machine.
 */
import { glob, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { crc32, deflateRaw } from 'node:zlib'
import { build as esbuild, formatMessages, type Plugin } from 'esbuild'

export interface Bundle {
  /** Path below functions/ without its ending: `ownedaccesskeys/create`. */
  name: string
  /** Bytes of the .mjs. */
  size: number
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

/** Bundles all of `root`/functions into `root`/.build and returns the bundles sorted by name. */
export async function build(root: string): Promise<Bundle[]> {
  const names = await functionNames(root)
  const outdir = join(root, '.build')
  const built = await esbuild({
    absWorkingDir: root,
    entryPoints: names.map((name) => `functions/${name}.ts`),
    outdir,
    outbase: '.',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // The SDK's ES modules can be shaken, its CommonJS cannot: a third fewer bytes.
    mainFields: ['module', 'main'],
    banner: { js: require },
    legalComments: 'none',
    logLevel: 'silent',
    plugins: [environmentCredentials],
    write: false,
  })
  // What esbuild doubts is not deployed. Its errors it throws.
  const doubts = await formatMessages(built.warnings, { kind: 'warning' })
  if (doubts.length > 0) throw new Error(doubts.join('\n'))
  await rm(outdir, { recursive: true, force: true })
  const bundles = await Promise.all(
    built.outputFiles.map(async ({ path, contents }) => {
      const file = path.slice(outdir.length + 1)
      await mkdir(join(path, '..'), { recursive: true })
      await Promise.all([
        writeFile(path, contents),
        writeFile(path.replace(/\.mjs$/, '.zip'), await zip(file, contents)),
      ])
      return { name: file.slice('functions/'.length, -'.mjs'.length), size: contents.length }
    }),
  )
  return bundles.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** The functions of a project: paths below functions/ without the ending, sorted. */
export async function functionNames(root: string): Promise<string[]> {
  const files = await Array.fromAsync(glob('**/*.ts', { cwd: join(root, 'functions') }))
  return files.map((file) => file.slice(0, -'.ts'.length).replaceAll('\\', '/')).sort()
}

const compress = promisify(deflateRaw)

/** A zip archive of one file (APPNOTE.TXT 4.3), dated 1980-01-01 so that equal bundles are equal archives. */
async function zip(name: string, contents: Uint8Array): Promise<Buffer> {
  const path = Buffer.from(name)
  const data = await compress(contents)
  const shared = Buffer.alloc(26)
  shared.writeUInt16LE(20, 0) // version needed: 2.0
  shared.writeUInt16LE(8, 4) // method: deflate
  shared.writeUInt16LE(0x21, 8) // date
  shared.writeUInt32LE(crc32(contents), 10)
  shared.writeUInt32LE(data.length, 14)
  shared.writeUInt32LE(contents.length, 18)
  shared.writeUInt16LE(path.length, 22)
  const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), shared, path])
  const attributes = Buffer.alloc(14)
  attributes.writeUInt32LE(((0o100644 << 16) | 0) >>> 0, 6)
  const madeByUnix = Buffer.from([20, 3])
  const central = Buffer.concat([Buffer.from('PK\x01\x02', 'latin1'), madeByUnix, shared, attributes, path])
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(1, 8)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(local.length + data.length, 16)
  return Buffer.concat([local, data, central, end])
}

if (import.meta.main) {
  for (const { name, size } of await build(join(import.meta.dirname, '..'))) {
    process.stdout.write(`${String(Math.ceil(size / 1024)).padStart(6)} KiB  ${name}\n`)
  }
}
