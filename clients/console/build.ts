/**
 * Bundles the console: scripts, a style sheet, an icon, what it knows of CI platforms, and a page that names them. Each page of the console is
 * a script of its own, which the browser loads with the first visit. Names contain a hash of the contents, so browsers keep the files
 * for ever. The output depends on the sources only, never on the time or the machine.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type BuildOptions, build as esbuild, formatMessages } from 'esbuild'
import { parseYaml } from '../../lib/meta/encoding/yaml.ts'

export interface ConsoleFile {
  /** Its address below the folder of the console. */
  name: string
  /** Value of the header Content-Type. */
  type: string
  text: string
}

/** The script contains Preact, whose licence asks for this notice. */
const NOTICE = '/* Preact: Copyright (c) 2015-present Jason Miller, MIT License */'

/** Marks where the function writes the settings for signing in with an identity provider. */
export const SIGN_IN = '{{sign-in}}'

/** Marks where the page asks for what its script imports at once, so that the browser loads all of it together. */
const PRELOAD = '{{preload}}'

/**
 * Returns the page first, and then its files. The page still has the mark `{{sign-in}}`: a deployment decides what it becomes.
 * Throws for errors and for warnings.
 */
export async function buildConsole(src = join(import.meta.dirname, 'src')): Promise<ConsoleFile[]> {
  const [{ script, shared, pages }, styles, icon, platforms, page] = await Promise.all([
    bundleScripts(join(src, 'main.tsx')),
    bundle(join(src, 'styles/main.css'), {}),
    readFile(join(src, 'icon.svg'), 'utf8'),
    readFile(join(src, 'platforms.yaml'), 'utf8'),
    readFile(join(src, 'index.html'), 'utf8'),
  ])
  const files = {
    script,
    styles: hashed('console', 'css', 'text/css; charset=utf-8', styles),
    icon: hashed('icon', 'svg', 'image/svg+xml', icon),
    platforms: hashed('platforms', 'json', 'application/json', JSON.stringify((await parseYaml(platforms)).value)),
  }
  const names = Object.fromEntries(Object.entries(files).map(([mark, { name }]) => [`{{${mark}}}`, name]))
  const text = page.replace(/\{\{[\w-]+\}\}/g, (mark) => {
    if (mark === SIGN_IN) return mark
    if (mark === PRELOAD) return shared.map(({ name }) => `<link rel="modulepreload" href="${name}">`).join('\n')
    const name = names[mark]
    if (name === undefined) throw new Error(`index.html has the unknown mark ${mark}`)
    return name
  })
  const missing = [...Object.values(names), SIGN_IN].filter((one) => text.split(one).length !== 2)
  if (missing.length > 0) throw new Error(`index.html must name each of its files once, and not ${missing.join(', ')}`)
  return [{ name: 'index.html', type: 'text/html; charset=utf-8', text }, ...Object.values(files), ...shared, ...pages]
}

interface Scripts {
  /** The script that the page names. */
  script: ConsoleFile
  /** What it imports at once. */
  shared: ConsoleFile[]
  /** What it imports later: the pages of the console. */
  pages: ConsoleFile[]
}

async function bundleScripts(entry: string): Promise<Scripts> {
  const { outputFiles, metafile } = await run(entry, {
    format: 'esm',
    splitting: true,
    outdir: 'out',
    entryNames: 'console',
    chunkNames: '[name]~[hash]',
    metafile: true,
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
  })
  const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]))
  const outputs = new Map(Object.entries(metafile?.outputs ?? {}).map(([path, output]) => [basename(path), output]))
  const made = new Map<string, ConsoleFile>()
  // A name has a hash of the text, and the text the names of what it imports: so those are made first. No script imports its importer.
  const make = (path: string): ConsoleFile => {
    const known = made.get(path)
    if (known) return known
    const text = importsOf(path).reduce((all, one) => all.replaceAll(one, make(one).name), texts.get(path) ?? '')
    const isShared = path.startsWith('chunk~')
    const name = isShared ? 'shared' : path.replace(/(~.*)?\.js$/, '')
    const file = hashed(name, 'js', 'text/javascript; charset=utf-8', `${NOTICE}\n${text}`)
    made.set(path, file)
    return file
  }
  const importsOf = (path: string) => (outputs.get(path)?.imports ?? []).map((one) => basename(one.path))
  const script = make('console.js')
  const shared = new Set<ConsoleFile>()
  const collect = (path: string): void => {
    for (const one of outputs.get(path)?.imports ?? []) {
      if (one.kind !== 'import-statement') continue
      shared.add(make(basename(one.path)))
      collect(basename(one.path))
    }
  }
  collect('console.js')
  const pages = [...made.values()].filter((one) => one !== script && !shared.has(one))
  return { script, shared: [...shared], pages }
}

async function bundle(entry: string, options: BuildOptions): Promise<string> {
  const { outputFiles } = await run(entry, options)
  return outputFiles[0]?.text ?? ''
}

/** Runs esbuild. Throws for warnings too. */
async function run(entry: string, options: BuildOptions) {
  const { warnings, ...built } = await esbuild({
    absWorkingDir: dirname(entry),
    entryPoints: [basename(entry)],
    bundle: true,
    minify: true,
    platform: 'browser',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'silent',
    // The file is for the type check.
    tsconfigRaw: {},
    ...options,
    write: false,
  })
  const doubts = await formatMessages(warnings, { kind: 'warning' })
  if (doubts.length > 0) throw new Error(doubts.join('\n'))
  return built
}

function hashed(name: string, extension: string, type: string, text: string): ConsoleFile {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16)
  return { name: `${name}-${hash}.${extension}`, type, text }
}
