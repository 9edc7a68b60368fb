/** Writes pages of the documentation as HTML: what they use of Markdown, without pictures and other markup. */
import { Marked, type Tokens } from 'marked'
import { escapeHtml } from '../../lib/engine/meta/value/printable.ts'

interface Places {
  /** Returns the address of what a link names, or undefined if it is not served. */
  addressOf(href: string): string | undefined
  /** Returns the address of a file or folder of examples/, or undefined for any other text. */
  exampleOf(text: string): string | undefined
}

/** Returns the anchor of a heading, as GitHub makes it. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s-]/gu, '')
    .trim()
    .replace(/\s/g, '-')

/** Tables and code may be wider than the screen: they scroll, with the keyboard too. */
const scrolling = (html: string): string =>
  `<div class="scroll" tabindex="0" role="group" aria-label="Wide content">${html}</div>\n`

/** Returns the HTML of a page. */
export function htmlOf(text: string, { addressOf, exampleOf }: Places): string {
  const anchor = (href: string, html: string) => `<a href="${escapeHtml(href).replaceAll('"', '&quot;')}">${html}</a>`
  const marked = new Marked({
    renderer: {
      heading({ tokens, text: heading, depth }: Tokens.Heading) {
        return `<h${depth} id="${anchorOf(heading)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }: Tokens.Link) {
        const html = this.parser.parseInline(tokens)
        const address = addressOf(href)
        return address === undefined ? html : anchor(address, html)
      },
      codespan({ text: code }: Tokens.Codespan) {
        const html = `<code>${escapeHtml(code)}</code>`
        const address = exampleOf(code)
        return address === undefined ? html : anchor(address, html)
      },
      code({ text: code }: Tokens.Code) {
        return scrolling(`<pre><code>${escapeHtml(code)}</code></pre>`)
      },
      table({ header, rows }: Tokens.Table) {
        const cells = (row: Tokens.TableCell[], tag: string) =>
          `<tr>${row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>\n`
        const body = rows.map((row) => cells(row, 'td')).join('')
        return scrolling(`<table>\n<thead>\n${cells(header, 'th')}</thead>\n<tbody>\n${body}</tbody>\n</table>`)
      },
      image: () => '',
      html: ({ text: markup }: Tokens.HTML | Tokens.Tag) => (markup === '<br>' ? markup : ''),
    },
  })
  return marked.parse(text, { async: false })
}
