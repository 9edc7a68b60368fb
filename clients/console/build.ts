/**
 * Bundles the console: scripts, a style sheet, an icon, the data on CI platforms, and a page that names them. Each page of the console is
 * a script of its own, which the browser loads with the first visit. Names contain a hash of the contents, so browsers keep the files
 * permanently. The output depends on the sources only, never on the time or the machine.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type BuildOptions, build as esbuild, formatMessages, type Metafile, type Plugin } from 'esbuild'
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
    if (mark === PRELOAD) return `<link rel="modulepreload" href="${shared.name}">`
    const name = names[mark]
    if (name === undefined) throw new Error(`index.html has the unknown mark ${mark}`)
    return name
  })
  const missing = [...Object.values(names), SIGN_IN].filter((one) => text.split(one).length !== 2)
  if (missing.length > 0) throw new Error(`index.html must name each of its files once, and not ${missing.join(', ')}`)
  return [{ name: 'index.html', type: 'text/html; charset=utf-8', text }, ...Object.values(files), shared, ...pages]
}

interface Scripts {
  /** The script that the page names. */
  script: ConsoleFile
  /** What it imports at once, and most pages too. */
  shared: ConsoleFile
  /** The pages of the console, which it imports later, and what only two of them share. */
  pages: ConsoleFile[]
}

/**
 * Bundles the scripts: the entry, one for each page, and one with what they share. esbuild alone would split the shared code into one
 * script for each set of pages that use it. Of these, only large ones for two pages stay: other pages do without them.
 */
async function bundleScripts(entry: string): Promise<Scripts> {
  const { outputFiles, metafile } = await run(entry, {
    ...MODULES,
    splitting: true,
    outdir: 'out',
    entryNames: 'console',
    chunkNames: '[name]~[hash]',
    metafile: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
  })
  const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]))
  const sourceOf = (name: string) => texts.get(name) ?? ''
  const outputs = metafile?.outputs ?? {}
  const names = Object.keys(outputs).map((path) => basename(path))
  const pairs = pairsOf(outputs).filter((name) => sourceOf(name).length >= PAIR_BYTES)
  const parts = names.filter((name) => isPart(name) && !pairs.includes(name))
  const scripts = names.filter((name) => !parts.includes(name))
  const exported = new Map<string, string>()
  for (const { part, name } of scripts.flatMap((one) => importsOf(sourceOf(one), parts))) {
    const key = `${part} ${name}`
    if (!exported.has(key)) exported.set(key, (FIRST_NAME + exported.size).toString(36))
  }
  const lines = [
    ...parts.map((name) => `import './${name}'`),
    ...[...exported].map(([key, short]) => {
      const [part, name] = key.split(' ')
      return `export {${name} as ${short}} from './${part}'`
    }),
  ]
  const shared = scriptFile('shared', await joined(lines.join('\n'), texts))
  const files = new Map<string, ConsoleFile>()
  const textOf = (script: string) =>
    [...files].reduce(
      (text, [name, file]) => text.replaceAll(name, file.name),
      importingOnce(sourceOf(script), parts, exported, shared.name),
    )
  for (const name of pairs) files.set(name, scriptFile('both', textOf(name)))
  for (const name of scripts.filter((one) => one.includes('~') && !isPart(one))) {
    files.set(name, scriptFile(name.replace(/~.*/, ''), textOf(name)))
  }
  return { script: scriptFile('console', textOf('console.js')), shared, pages: [...files.values()] }
}

/** From this number on, numbers in base 36 are names: `a0`, `a1` and so on. */
const FIRST_NAME = 360

/** What is smaller is not worth a request of its own. */
const PAIR_BYTES = 2048

/** Reports whether esbuild has split an output off, because several pages import it. */
const isPart = (name: string): boolean => name.startsWith('chunk~')

/** Returns the parts that exactly two pages use. They import only what these two use, so nothing in the shared script needs them. */
function pairsOf(outputs: Metafile['outputs']): string[] {
  const reach = (path: string, seen: Set<string>): Set<string> => {
    if (seen.has(path)) return seen
    seen.add(path)
    for (const one of outputs[path]?.imports ?? []) if (one.kind === 'import-statement') reach(one.path, seen)
    return seen
  }
  const entries = Object.keys(outputs).filter((path) => !isPart(basename(path)))
  const users = entries.map((path) => ({ isPage: basename(path).includes('~'), all: reach(path, new Set()) }))
  return Object.keys(outputs).flatMap((path) => {
    const using = users.filter(({ all }) => all.has(path))
    return isPart(basename(path)) && using.length === 2 && using.every(({ isPage }) => isPage) ? [basename(path)] : []
  })
}

/** An import of a part, as esbuild writes it: `import{a as b,c}from"./chunk~HASH.js";`. */
const PART_IMPORT = /import(?:\{([^}]*)\}from)?"\.\/(chunk~[^"]+)";/g

/** Returns what a script imports of these parts: the name there, and its own. */
function importsOf(script: string, parts: readonly string[]): { part: string; name: string; own: string }[] {
  return [...script.matchAll(PART_IMPORT)].flatMap(([, list, part = '']) =>
    (parts.includes(part) ? (list?.split(',') ?? []) : []).map((one) => {
      const [name = '', own = name] = one.split(' as ')
      return { part, name, own }
    }),
  )
}

/** Returns the script with one import of the shared script in place of those of its parts. */
function importingOnce(
  script: string,
  parts: readonly string[],
  exported: ReadonlyMap<string, string>,
  shared: string,
): string {
  const names = importsOf(script, parts).map(({ part, name, own }) => `${exported.get(`${part} ${name}`)} as ${own}`)
  const rest = script.replace(PART_IMPORT, (statement, _, part) => (parts.includes(part) ? '' : statement))
  if (parts.some((part) => rest.includes(part))) throw new Error('esbuild writes imports of its parts in another form')
  return `import{${names.join()}}from"./${shared}";${rest}`
}

/** The format of all scripts. */
const MODULES = { format: 'esm', target: 'es2022' } as const

const scriptFile = (name: string, text: string): ConsoleFile =>
  hashed(name, 'js', 'text/javascript; charset=utf-8', `${NOTICE}\n${text}`)

/** Bundles a script with the given parts, which it and they import. */
function joined(script: string, parts: ReadonlyMap<string, string>): Promise<string> {
  const plugin: Plugin = {
    name: 'parts',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /.*/ }, ({ path }) => ({ path: basename(path), namespace: 'part' }))
      onLoad({ filter: /.*/, namespace: 'part' }, ({ path }) => ({ contents: parts.get(path) ?? script, loader: 'js' }))
    },
  }
  return bundle('script.js', { ...MODULES, absWorkingDir: import.meta.dirname, plugins: [plugin] })
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
    // tsconfig.json is for the type check only.
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
