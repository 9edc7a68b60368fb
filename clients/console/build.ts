/**
 * Bundles the console into the files that its function serves: a page, scripts, a style sheet, an icon and data. Each page of the console is
 * a script of its own, which the browser loads with the first visit. Names contain a hash of the contents, so browsers keep the files
 * permanently. The output depends on the sources only, never on the time or the machine.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type BuildOptions, build as esbuild, formatMessages, type Metafile, type Plugin } from 'esbuild'
import { readPlatforms } from './platforms.ts'

export interface ConsoleFile {
  /** Its address below the folder of the console. */
  name: string
  /** Value of the header Content-Type. */
  type: string
  text: string
}

/** The scripts contain Preact and oauth4webapi, whose licences ask for this notice. */
const NOTICE =
  '/* Preact: Copyright (c) 2015-present Jason Miller; oauth4webapi: Copyright (c) 2022 Filip Skokan; MIT License */'

/** Marks where the function writes the settings for signing in with an identity provider. */
export const SIGN_IN = '{{sign-in}}'

/** Marks where the page says what its script must be, so that no browser runs one that was damaged on the way. */
const INTEGRITY = '{{integrity}}'

/** Marks where the page asks for what its script imports at once, so that the browser loads all of it together. */
const PRELOAD = '{{preload}}'

/**
 * Returns the page first, and then its files. The page still has the mark `{{sign-in}}`: a deployment decides what it becomes.
 * Throws for errors and for warnings.
 */
export async function buildConsole(src = join(import.meta.dirname, 'src')): Promise<ConsoleFile[]> {
  const [{ script, atOnce, later }, styles, icon, platforms, page] = await Promise.all([
    bundleScripts(src),
    run(join(src, 'styles/main.css'), {}),
    readFile(join(src, 'icon.svg'), 'utf8'),
    readPlatforms(join(src, 'platforms.yaml')),
    readFile(join(src, 'index.html'), 'utf8'),
  ])
  const files = {
    script,
    styles: hashed('console', 'css', 'text/css; charset=utf-8', styles.outputFiles[0]?.text ?? ''),
    icon: hashed('icon', 'svg', 'image/svg+xml', icon),
    platforms: hashed('platforms', 'json', 'application/json', JSON.stringify(platforms)),
  }
  const names = Object.fromEntries(Object.entries(files).map(([mark, { name }]) => [`{{${mark}}}`, name]))
  const text = page.replace(/\{\{[\w-]+\}\}/g, (mark) => {
    if (mark === SIGN_IN) return mark
    if (mark === INTEGRITY) return `sha384-${createHash('sha384').update(script.text).digest('base64')}`
    if (mark === PRELOAD) return atOnce.map(({ name }) => `<link rel="modulepreload" href="${name}">`).join('\n')
    const name = names[mark]
    if (name === undefined) throw new Error(`index.html has the unknown mark ${mark}`)
    return name
  })
  const missing = [...Object.values(names), SIGN_IN].filter((one) => text.split(one).length !== 2)
  if (missing.length > 0) throw new Error(`index.html must name each of its files once, and not ${missing.join(', ')}`)
  return [{ name: 'index.html', type: 'text/html; charset=utf-8', text }, ...Object.values(files), ...atOnce, ...later]
}

interface Scripts {
  /** The script that the page names. */
  script: ConsoleFile
  /** What it imports at once, and the pages too. */
  atOnce: ConsoleFile[]
  /** The pages of the console, which it imports later, and what only two of them share. */
  later: ConsoleFile[]
}

const MAIN = 'main.tsx'
const PAGES = 'shell/pages.ts'

const MODULES = {
  format: 'esm',
  target: 'es2022',
  splitting: true,
  outdir: 'out',
  entryNames: 'console-[hash]',
  chunkNames: '[name]-[hash]',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  banner: { js: NOTICE },
} satisfies BuildOptions

/**
 * Bundles the scripts: the entry, one for each page, and one with what they share. esbuild alone would split the shared code into one
 * script for each set of pages that use it. So a second run lets every script import all of it.
 */
async function bundleScripts(src: string): Promise<Scripts> {
  const entry = join(src, MAIN)
  const split = await run(entry, MODULES)
  const { outputFiles, metafile } = await run(entry, { ...MODULES, plugins: [sharing(split.metafile, src)] })
  const scripts = outputFiles.map(({ path, text }): ConsoleFile => {
    return { name: basename(path), type: 'text/javascript; charset=utf-8', text }
  })
  const [first = '', ...atOnce] = reachedFrom(MAIN, metafile).map((path) => basename(path))
  const named = (names: readonly string[]) => scripts.filter(({ name }) => names.includes(name))
  const [script] = named([first]) as [ConsoleFile]
  const shared = named(atOnce)
  return { script, atOnce: shared, later: scripts.filter((one) => one !== script && !shared.includes(one)) }
}

/** What saves fewer bytes for each page but one that needs it is not worth a request of its own, and nothing is that many pages need. */
const [SAVED_BYTES, MANY] = [1024, 5]

/**
 * Lets every script import the modules that several share. Only large parts for few pages stay apart: other pages do without them. What a page
 * has in common with parts is one script too: each of these parts imports all of it.
 */
function sharing(metafile: Metafile, src: string): Plugin {
  const { outputs } = metafile
  const entries = Object.values(outputs).flatMap(({ entryPoint }) => entryPoint ?? [])
  const reached = new Map(entries.map((entry) => [entry, reachedFrom(entry, metafile)]))
  const [main = ''] = reached.get(MAIN) ?? []
  const pages = pagesIn(metafile)
  const groups = new Map<string, { inputs: string[]; users: Set<string> }>()
  const add = (name: string, inputs: object, users: readonly string[]) => {
    const group = groups.get(name) ?? { inputs: [], users: new Set() }
    group.inputs.push(...Object.keys(inputs))
    for (const user of users) group.users.add(user)
    groups.set(name, group)
  }
  for (const [path, { bytes, inputs, entryPoint }] of Object.entries(outputs)) {
    const users = entries.filter((entry) => reached.get(entry)?.includes(path))
    const viewed = pages.filter((page) => users.includes(page))
    const isShared = users.includes(MAIN)
      ? path !== main
      : viewed.length >= MANY || (viewed.length > 1 && bytes < (viewed.length - 1) * SAVED_BYTES)
    if (isShared) add('shared', inputs, entries)
    else if (entryPoint === undefined && viewed.length > 0) add(`shared ${viewed.join(' ')}`, inputs, users)
  }
  return {
    name: 'sharing',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^shared\b/ }, ({ path }) => ({ path, namespace: 'shared' }))
      onLoad({ filter: /.*/, namespace: 'shared' }, ({ path }) => ({
        contents:
          groups
            .get(path)
            ?.inputs.map((one) => `import './${one}'`)
            .join('\n') ?? '',
        resolveDir: src,
      }))
      onLoad({ filter: /\.tsx?$/ }, async ({ path }) => {
        const entry = entries.find((one) => join(src, one) === path)
        if (entry === undefined) return undefined
        const used = [...groups].filter(([, { users }]) => users.has(entry)).map(([name]) => `import '${name}'`)
        const contents = [await readFile(path, 'utf8'), ...used].join('\n')
        return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts' }
      })
    },
  }
}

/** Returns the entries that the table of the pages loads. All others are parts of pages, which come after what is seen first. */
const pagesIn = ({ inputs }: Metafile): string[] =>
  (inputs[PAGES]?.imports ?? []).flatMap(({ kind, path }) => (kind === 'dynamic-import' ? path : []))

/** Returns the output of an entry, and what it imports at once. */
function reachedFrom(entry: string, { outputs }: Metafile): string[] {
  const first = Object.keys(outputs).find((path) => outputs[path]?.entryPoint === entry) ?? ''
  const seen = new Set([first])
  // What is added while the loop runs is visited too.
  for (const path of seen) {
    for (const one of outputs[path]?.imports ?? []) if (one.kind === 'import-statement') seen.add(one.path)
  }
  return [...seen]
}

/** Runs esbuild. Throws for warnings too. */
async function run(entry: string, options: BuildOptions) {
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, 'package.json'), 'utf8')) as {
    version: string
  }
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
    define: { KEYPLANE_VERSION: JSON.stringify(version) },
    // Names must not depend on where the packages are.
    preserveSymlinks: true,
    ...options,
    write: false,
    metafile: true,
  })
  const texts = await formatMessages(warnings, { kind: 'warning' })
  if (texts.length > 0) throw new Error(texts.join('\n'))
  return built
}

function hashed(name: string, extension: string, type: string, text: string): ConsoleFile {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16)
  return { name: `${name}-${hash}.${extension}`, type, text }
}
