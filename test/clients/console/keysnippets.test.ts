/** Compares the snippets for a stored key with the examples of the documentation. */
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { keySnippets } from '../../../clients/console/src/text/keysnippets.ts'
import { readExample } from '../../support/examples.ts'

const url = 'https://keys.example.com/prod/kubernetes/management'
const pageOf = (name: string) => readFile(new URL(`../../../docs/${name}.md`, import.meta.url), 'utf8')
const snippets = keySnippets(url)

test('the snippets for jobs and for files are those of docs/ci.md', async () => {
  const [, section = ''] = /^## With a stored key\n([\s\S]*?)(?:^## |$(?![\s\S]))/m.exec(await pageOf('ci')) ?? []
  const examples = [...section.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, example = '']) => example)
  expect(snippets.slice(0, 4).map(({ text }) => text)).toEqual(examples)
})

test('the provider of Terraform gets the key as in examples/terraform', async () => {
  const plain = (text: string) => text.replaceAll(/ +/g, ' ')
  const text = plain(snippets.at(-1)?.text ?? '')
  const [, provider = ''] = /^(provider[\s\S]*?)^\}/m.exec(plain(await readExample('terraform/main.tf'))) ?? []
  expect(provider.split('\n')).toContain(' token = var.access_key')
  expect(text).toContain('\nprovider "kubernetes" {\n')
  expect(text).toContain(`\n host = "${url}"\n token = var.access_key\n}\n`)
})

test('a URL cannot become part of a command', () =>
  expect(keySnippets("https://h/a'$(x)")[2]?.text).toContain(`'https://h/a'\\''$(x)/apis/`))
