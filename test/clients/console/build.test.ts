import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildConsole, type ConsoleFile } from '../../../clients/console/build.ts'
import { testFolder } from '../../support/folder.ts'

describe('the built console', () => {
  let files: ConsoleFile[]
  beforeAll(async () => {
    files = await buildConsole()
  })
  const textOf = (pattern: RegExp) => files.find(({ name }) => pattern.test(name))?.text ?? ''

  // threat: page-8
  test('is a page, scripts, a style sheet, an icon and data whose names have a hash of the contents', () => {
    const named = files.map(({ name, type }) => [name.replace(/-(?:[0-9a-f]{16}|[A-Z2-7]{8})\./, '-HASH.'), type])
    expect(named.filter(([name]) => !name?.endsWith('.js'))).toEqual([
      ['index.html', 'text/html; charset=utf-8'],
      ['console-HASH.css', 'text/css; charset=utf-8'],
      ['icon-HASH.svg', 'image/svg+xml'],
      ['platforms-HASH.json', 'application/json'],
    ])
    const scripts = named.filter(([name]) => name?.endsWith('.js'))
    expect(scripts).toContainEqual(['console-HASH.js', 'text/javascript; charset=utf-8'])
    expect(scripts).toContainEqual(['keysroute-HASH.js', 'text/javascript; charset=utf-8'])
  })

  /** Returns the scripts that a script imports. */
  const importedBy = ({ text }: ConsoleFile, pattern: RegExp): ConsoleFile[] =>
    [...text.matchAll(pattern)].map(([, name]) => {
      const found = files.find((one) => one.name === name)
      if (!found) throw new Error(`no file ${name}`)
      return found
    })
  const AT_ONCE = /\b(?:from|import)\s*"\.\/([^"]+)"/g
  const ANY = /\b(?:from|import)\s*\(?"\.\/([^"]+)"/g
  const LATER = /\bimport\("\.\/([^"]+)"\)/g
  /** Returns a script with all that it imports at once. */
  const closure = (file: ConsoleFile): ConsoleFile[] => [
    file,
    ...importedBy(file, AT_ONCE).flatMap((one) => closure(one)),
  ]
  const entry = () => files.find(({ name }) => /^console-.*js$/.test(name)) as ConsoleFile

  test('has a page that names its files by relative addresses, and every script that loads with it', () => {
    const page = textOf(/html$/)
    const addresses = [...page.matchAll(/(?:href|src|content)="([\w-]+\.\w+)"/g)].map(([, address]) => address)
    const others = files.slice(1).filter(({ name }) => !name.endsWith('.js'))
    const expected = new Set([...others, ...closure(entry())].map(({ name }) => name))
    expect(addresses.sort()).toEqual([...expected].sort())
    expect(closure(entry())).toHaveLength(2)
    expect(page.split('{{sign-in}}')).toHaveLength(2)
    expect(page).not.toContain('{{preload}}')
    const hash = createHash('sha384').update(entry().text).digest('base64')
    expect(page).toContain(`src="${entry().name}" integrity="sha384-${hash}"`)
  })

  test('has no script that nothing imports', () => {
    expect(importedBy(entry(), LATER).length).toBeGreaterThan(1)
    const reached = new Set([entry()])
    // What is added while the loop runs is visited too.
    for (const one of reached) for (const other of importedBy(one, ANY)) reached.add(other)
    expect([...reached].map(({ name }) => name).sort()).toEqual(
      files
        .map(({ name }) => name)
        .filter((name) => name.endsWith('.js'))
        .sort(),
    )
  })

  test('is the same for the same sources', async () => expect(await buildConsole()).toEqual(files))

  test('loads at most 78 KiB of script for each page, uncompressed', () => {
    const sizes = importedBy(entry(), LATER).map((page) => {
      const loaded = new Set([...closure(entry()), ...closure(page)])
      return [page.name, [...loaded].reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)] as const
    })
    expect(sizes.filter(([, size]) => size < 20_000 || size > 78 * 1024)).toEqual([])
  })

  test('shows a page without the scripts of its dialogs, which it loads then', () => {
    const page = files.find(({ name }) => /^keypage-/.test(name)) as ConsoleFile
    const parts = importedBy(page, LATER).map(({ name }) => name.replace(/-.*/, ''))
    expect(parts).toEqual(expect.arrayContaining(['editdialog', 'rotationsteps']))
    const seen = closure(page).map(({ name }) => name)
    expect(importedBy(page, LATER).filter(({ name }) => seen.includes(name))).toEqual([])
  })

  // threat: page-2
  test('has no inline script, style or event handler, which the policy of the page forbids', () => {
    expect(textOf(/html$/)).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]* src=)[^>]*>|javascript:/i)
    expect(textOf(/css$/)).not.toMatch(/@import|url\((?!["']?data:)/)
  })
})

describe('a build', () => {
  const src = testFolder()
  beforeAll(async () => {
    await mkdir(join(src, 'styles'))
  })

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

  test.each([
    ['main.tsx', 'globalThis.a = 1', 'globalThis.a = 2', /^console-.*\.js$/],
    ['styles/main.css', 'p { top: 1px }', 'p { top: 2px }', /^console-.*\.css$/],
    ['icon.svg', '<svg/>', '<svg></svg>', /^icon-/],
    ['platforms.yaml', '[]', '[{ jobs: [] }]', /^platforms-/],
  ])('gives the file of %s another name when its contents change', async (file, before, after, changed) => {
    const names = async (text: string) => (await build({ [file]: text })).map(({ name }) => name)
    const [one, other] = [await names(before), await names(after)]
    expect(one.filter((name) => !other.includes(name))).toEqual([expect.stringMatching(changed)])
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
  ])('throws for %s', (_, more, message) => expect(build(more)).rejects.toThrow(message))
})
