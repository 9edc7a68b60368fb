/**
 * Makes the documentation that a deployment serves at `console/docs/`: a page for each one of docs/ and of the reference of kinds, and one
 * with the examples. The output depends on the files only, and has nothing of a deployment.
 */
import { createHash } from 'node:crypto'
import { glob, readFile } from 'node:fs/promises'
import { basename, dirname, join, normalize } from 'node:path'
import { documentation } from '../../clients/core/src/documentation.ts'
import { escapeHtml } from '../../lib/engine/meta/value/printable.ts'
import { anchorOf, htmlOf } from './markdown.ts'

interface DocumentationFile {
  /** Its address below that of the console. */
  name: string
  /** Value of the header Content-Type. */
  type: string
  text: string
}

/** The reference of a kind is docs/KIND, after its file, which is beside the module of the kind. */
const REFERENCE = 'lib/*/*.md'

/** Returns the files of a project. Throws for a page without a title. */
export async function buildDocumentation(root: string): Promise<DocumentationFile[]> {
  const read = (path: string) => readFile(join(root, path), 'utf8')
  const paths = async (...patterns: string[]) =>
    (await Array.fromAsync(glob(patterns, { cwd: root }))).map((path) => path.replaceAll('\\', '/')).sort()
  const style = await readFile(join(import.meta.dirname, 'style.css'), 'utf8')
  const styleName = `style-${createHash('sha256').update(style).digest('hex').slice(0, 16)}.css`
  const examples = (await paths('examples/**/*.*', 'examples/**/Jenkinsfile')).map((path) =>
    path.slice('examples/'.length),
  )
  const pages = Object.keys(documentation).map((name) => ({ name, path: `docs/${name}.md` }))
  const kinds = (await paths(REFERENCE))
    .map((path) => ({ name: basename(path, '.md'), path }))
    .filter(({ name }) => name !== 'README')
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  const served = new Map([...pages, ...kinds].map(({ name, path }) => [path, name]))

  const exampleOf = (text: string): string | undefined => {
    const [, wanted] = /^examples\/([\w./-]*\w)\/?$/.exec(text) ?? []
    const first = wanted === undefined ? undefined : examples.find((one) => `${one}/`.startsWith(`${wanted}/`))
    return first === undefined ? undefined : `examples#${anchorOf(first)}`
  }
  const addressIn = (from: string) => (href: string) => {
    if (/^[a-z]+:/.test(href) || href.startsWith('#')) return href
    const [path = '', anchor] = href.split('#')
    const target = normalize(join(dirname(from), path)).replaceAll('\\', '/')
    const name = target === 'README.md' ? './' : served.get(target)
    return name === undefined ? undefined : `${name}${anchor === undefined || name === './' ? '' : `#${anchor}`}`
  }
  const page = (name: string, title: string, body: string): DocumentationFile => ({
    name: `docs/${name}`,
    type: 'text/html; charset=utf-8',
    text: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · keyplane</title>
<link rel="stylesheet" href="${styleName}">
<nav aria-label="Documentation"><a href="./">Documentation</a> <a href="../">Console</a></nav>
<main>
${body}</main>
</html>
`,
  })
  const made = [...pages, ...kinds].map(async ({ name, path }) => {
    const text = await read(path)
    const [, title] = /^# (.+)$/m.exec(text) ?? []
    if (title === undefined) throw new Error(`${path} has no title`)
    return { title, file: page(name, title, htmlOf(text, { addressOf: addressIn(path), exampleOf })) }
  })
  const written = await Promise.all(made)
  const list = (of: typeof written) =>
    `<ul>\n${of.map(({ title, file }) => `<li><a href="${file.name.slice('docs/'.length)}">${escapeHtml(title)}</a></li>\n`).join('')}</ul>\n`
  const [own, reference] = [written.slice(0, pages.length), written.slice(pages.length)]
  const index = [
    '<h1>Documentation</h1>\n<p>These pages are of the release from which this server was deployed.</p>\n',
    list(own),
    '<h2>Reference</h2>\n<p><a href="examples">Examples</a>, and each kind with its fields:</p>\n',
    list(reference),
  ]
  const shown = examples.map(async (path) => {
    const code = escapeHtml(await read(`examples/${path}`))
    return `<h2 id="${anchorOf(path)}">${escapeHtml(path)}</h2>\n<div class="scroll" tabindex="0" role="group" aria-label="Wide content"><pre><code>${code}</code></pre></div>\n`
  })
  return [
    page('index.html', 'Documentation', index.join('')),
    ...written.map(({ file }) => file),
    page('examples', 'Examples', `<h1>Examples</h1>\n${(await Promise.all(shown)).join('')}`),
    { name: `docs/${styleName}`, type: 'text/css; charset=utf-8', text: style },
  ]
}
