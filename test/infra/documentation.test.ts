/** Reads the documentation as a deployment serves it: every link opens, and nothing in it is markup of others or of a deployment. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { documentation, documentationPath } from '../../clients/core/src/documentation.ts'
import { buildDocumentation } from '../../infra/documentation/build.ts'
import { htmlOf } from '../../infra/documentation/markdown.ts'

const root = join(import.meta.dirname, '../..')
const files = await buildDocumentation(root)
const pages = files.filter(({ type }) => type.startsWith('text/html'))
const textOf = new Map(files.map(({ name, text }) => [name, text]))
const folder = 'https://h/console/docs/'

const hrefsIn = (text: string): string[] => [...text.matchAll(/ href="([^"]*)"/g)].map(([, href = '']) => href)

describe('the served documentation', () => {
  test('has the pages that clients link to, the kinds and the examples', () => {
    const names = pages.map(({ name }) => name)
    for (const page of Object.keys(documentation)) expect(names).toContain(documentationPath(page as 'tour'))
    expect(names).toEqual(expect.arrayContaining(['docs/index.html', 'docs/examples', 'docs/ownedaccesskey']))
  })

  // threat: page-10
  test.each(pages.map(({ name, text }) => [name, text]))('%s has links that open, and one title', (name, text) => {
    const closed = hrefsIn(text).filter((href) => {
      const { origin, pathname, hash } = new URL(href, `https://h/console/${name.replace('index.html', '')}`)
      if (origin !== 'https://h') return !href.startsWith('https://')
      if (pathname === '/console/') return false
      const target = textOf.get(
        pathname === new URL(folder).pathname ? 'docs/index.html' : pathname.replace('/console/', ''),
      )
      return target === undefined || (hash !== '' && !target.includes(` id="${hash.slice(1)}"`))
    })
    expect(closed).toEqual([])
    expect(text.match(/<h1[ >]/g)).toHaveLength(1)
    const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const prose = text.replaceAll(/<code>[\s\S]*?<\/code>/g, '')
    expect(prose).not.toMatch(/<(?:script|img|picture|iframe|style)|\son\w+=|\sstyle=|\]\(|<!--/)
  })

  test('names each example as a link', async () => {
    const named = pages.flatMap(({ name, text }) =>
      [...text.matchAll(/(<a href="[^"]*">)?<code>(examples\/[^<]+)<\/code>/g)].map(([, link, path]) => [
        name,
        path,
        link !== undefined,
      ]),
    )
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter(([, , isLink]) => !isLink)).toEqual([])
    expect(textOf.get('docs/examples')).toContain('kind: FederatedIdentityCredential')
  })

  test('is the same for equal files, and keeps its style as long as that is', async () => {
    expect(await buildDocumentation(root)).toEqual(files)
    const style = await readFile(join(root, 'infra/documentation/style.css'), 'utf8')
    expect(files.at(-1)).toMatchObject({ name: expect.stringMatching(/^docs\/style-[0-9a-f]{16}\.css$/), text: style })
  })
})

// threat: page-11
test('texts of a page stay texts', () => {
  const nothing = { addressOf: (href: string) => href, exampleOf: () => undefined }
  const html = htmlOf(
    '# A <b>\n\n`<i>` ![x](y) <script>1</script>\n\n[a](<x" onclick="1>)\n\n| a |\n|---|\n| `<u>` |\n',
    nothing,
  )
  expect(html).not.toMatch(/<(?:b|i|u|script|img)[> ]|" onclick/)
  expect(html).toContain('&lt;i&gt;')
})
