/**
 * Bundles the console: one script, one style sheet, one icon, what it knows of CI platforms, and a page that names them. Names contain a hash of the contents, so
 * browsers keep the files for ever. The output depends on the sources only, never on the time or the machine.
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

/**
 * Returns the page first, and then its files. The page still has the mark `{{sign-in}}`: a deployment decides what it becomes.
 * Throws for errors and for warnings.
 */
export async function buildConsole(src = join(import.meta.dirname, 'src')): Promise<ConsoleFile[]> {
  const [script, styles, icon, platforms, page] = await Promise.all([
    bundle(join(src, 'main.tsx'), {
      format: 'esm',
      target: 'es2022',
      jsx: 'automatic',
      jsxImportSource: 'preact',
      banner: { js: NOTICE },
    }),
    bundle(join(src, 'styles/main.css'), {}),
    readFile(join(src, 'icon.svg'), 'utf8'),
    readFile(join(src, 'platforms.yaml'), 'utf8'),
    readFile(join(src, 'index.html'), 'utf8'),
  ])
  const files = {
    script: hashed('console', 'js', 'text/javascript; charset=utf-8', script),
    styles: hashed('console', 'css', 'text/css; charset=utf-8', styles),
    icon: hashed('icon', 'svg', 'image/svg+xml', icon),
    platforms: hashed('platforms', 'json', 'application/json', JSON.stringify((await parseYaml(platforms)).value)),
  }
  const names = Object.fromEntries(Object.entries(files).map(([mark, { name }]) => [`{{${mark}}}`, name]))
  const text = page.replace(/\{\{[\w-]+\}\}/g, (mark) => {
    if (mark === SIGN_IN) return mark
    const name = names[mark]
    if (name === undefined) throw new Error(`index.html has the unknown mark ${mark}`)
    return name
  })
  const missing = [...Object.values(names), SIGN_IN].filter((one) => text.split(one).length !== 2)
  if (missing.length > 0) throw new Error(`index.html must name each of its files once, and not ${missing.join(', ')}`)
  return [{ name: 'index.html', type: 'text/html; charset=utf-8', text }, ...Object.values(files)]
}

async function bundle(entry: string, options: BuildOptions): Promise<string> {
  const { outputFiles, warnings } = await esbuild({
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
  return outputFiles?.[0]?.text ?? ''
}

function hashed(name: string, extension: string, type: string, text: string): ConsoleFile {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16)
  return { name: `${name}-${hash}.${extension}`, type, text }
}
