import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildConsole, type ConsoleFile } from '../../../clients/console/build.ts'

describe('the built console', () => {
  let files: ConsoleFile[]
  beforeAll(async () => {
    files = await buildConsole()
  })
  const textOf = (pattern: RegExp) => files.find(({ name }) => pattern.test(name))?.text ?? ''

  test('is a page, and a script, a style sheet, an icon and data whose names have a hash of the contents', () => {
    expect(files.map(({ name, type }) => [name.replace(/-[0-9a-f]{16}\./, '-HASH.'), type])).toEqual([
      ['index.html', 'text/html; charset=utf-8'],
      ['console-HASH.js', 'text/javascript; charset=utf-8'],
      ['console-HASH.css', 'text/css; charset=utf-8'],
      ['icon-HASH.svg', 'image/svg+xml'],
      ['platforms-HASH.json', 'application/json'],
    ])
  })

  test('has a page that names the files by relative addresses', () => {
    const page = textOf(/html$/)
    const addresses = [...page.matchAll(/(?:href|src|content)="([\w-]+\.\w+)"/g)].map(([, address]) => address)
    expect(addresses.sort()).toEqual(
      files
        .slice(1)
        .map(({ name }) => name)
        .sort(),
    )
    expect(page.split('{{sign-in}}')).toHaveLength(2)
  })

  test('is the same for the same sources', async () => {
    expect(await buildConsole()).toEqual(files)
  })

  test('has a script of at most 80 KiB', () => {
    const size = Buffer.byteLength(textOf(/js$/))
    expect(size).toBeGreaterThan(10_000)
    expect(size).toBeLessThanOrEqual(80 * 1024)
  })

  test('has no inline script, style or event handler, which the policy of the page forbids', () => {
    expect(textOf(/html$/)).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]* src=)[^>]*>|javascript:/i)
    expect(textOf(/css$/)).not.toMatch(/@import|url\((?!["']?data:)/)
  })
})

describe('a build', () => {
  let src: string
  beforeAll(async () => {
    src = await mkdtemp(join(tmpdir(), 'keyplane-console-'))
    await mkdir(join(src, 'styles'))
  })
  afterAll(() => rm(src, { recursive: true }))

  const page = '{{sign-in}} {{script}} {{styles}} {{icon}} {{platforms}}'
  const build = async (more: Record<string, string>) => {
    const sources = {
      'main.tsx': 'export {}',
      'styles/main.css': 'p { color: red }',
      'icon.svg': '<svg/>',
      'platforms.yaml': '[]',
      'index.html': page,
    }
    for (const [name, text] of Object.entries({ ...sources, ...more })) await writeFile(join(src, name), text)
    return await buildConsole(src)
  }

  test('gives a file another name when its contents change', async () => {
    const names = async (text: string) => (await build({ 'main.tsx': text })).map(({ name }) => name)
    const [one, other] = [await names('globalThis.a = 1'), await names('globalThis.a = 2')]
    expect(one.filter((name) => !other.includes(name))).toEqual([expect.stringMatching(/^console-.*\.js$/)])
  })

  test.each([
    ['an error', { 'main.tsx': 'let a =' }, 'main.tsx'],
    ['a warning of the script', { 'main.tsx': 'if (globalThis.a === -0) throw 1' }, 'Comparison with -0'],
    ['a warning of the styles', { 'styles/main.css': 'p { color: red' }, 'Expected "}"'],
    ['an unknown mark', { 'index.html': `${page} {{other}}` }, 'unknown mark {{other}}'],
    ['a page without its script', { 'index.html': '{{sign-in}} {{styles}} {{icon}} {{platforms}}' }, 'not console-'],
    [
      'a page without the mark for signing in',
      { 'index.html': '{{script}} {{styles}} {{icon}} {{platforms}}' },
      'not {{sign-in}}',
    ],
  ])('throws for %s', async (_, more, message) => {
    await expect(build(more)).rejects.toThrow(message)
  })
})
