/** Checks that files, test titles and links on the pages exist. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { documentation } from '../clients/core/src/documentation.ts'
import { blocksIn } from './support/commands.ts'
import { wordsOfOneShell } from './support/shelltext.ts'

const root = join(import.meta.dirname, '..')
const pages = (
  await Array.fromAsync(
    glob(['README.md', 'CONTRIBUTING.md', 'docs/*.md', 'lib/**/*.md', 'clients/**/*.md', 'test/**/*.md'], {
      cwd: root,
    }),
  )
).sort()

/** Returns a page without its code blocks. */
const proseOf = async (page: string): Promise<string> =>
  (await readFile(join(root, page), 'utf8')).replace(/^```[\s\S]*?^```$/gm, '').replace(/^ {4}.*$/gm, '')

const codeSpans = (text: string): string[] => [...text.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span)

/** Reports whether the span is a pattern such as `functions/PLURAL/VERB.ts`. */
const isPattern = (span: string): boolean => /(^|\/)[A-Z]{2,}(\/|\.ts$|\.json$|$|\.[a-z]+\.ts$)/.test(span)

/** Returns the spans that are paths from the root. */
const filesNamed = (text: string): string[] =>
  codeSpans(text).filter(
    (span) => /^(lib|test|infra|functions|clients|docs|events)\/[\w./-]*$/.test(span) && !isPattern(span),
  )

/** Returns the spans that name modules as the pages of lib/ do: from there, from the root, or by name alone. */
const modulesNamed = (text: string): string[] =>
  codeSpans(text).filter((span) => /^\w[\w./-]*\.ts$/.test(span) && !isPattern(span))

const slug = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s-]/gu, '')
    .trim()
    .replace(/\s/g, '-')

test('pages are found', () =>
  expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/audit.md', 'docs/threats.md'])))

/** Commands that ask in a terminal. A shell without bracketed paste gives them the next pasted line for an answer. */
const asking =
  /^keyplane (?:keys (?:delete|disable)|revoke|advise .*--(?:apply|undo|drop-added))\b(?!.*(?: --yes| -y)\b)/m

test.each(['README.md', 'docs/tour.md', 'docs/first-virtual-cluster.md', 'docs/first-connected-cluster.md'])(
  'no command of the tour in %s asks a question',
  async (page) => {
    const blocks = [...blocksIn(await readFile(join(root, page), 'utf8')).values()].flat()
    expect(blocks.filter((block) => asking.test(block))).toEqual([])
    expect(asking.test('keyplane keys disable ci --context admin')).toBe(true)
  },
)

test.each(['lib/README.md', 'lib/engine/README.md', 'lib/engine/storage/README.md'])(
  '%s names existing modules',
  async (page) => {
    const files = await Array.fromAsync(glob(['lib/**/*.ts', 'test/**/*.ts'], { cwd: root }))
    const isThere = (name: string) => files.some((file) => file === name || file.endsWith(`/${name}`))
    const named = modulesNamed(await proseOf(page))
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((name) => !isThere(name))).toEqual([])
  },
)

test.each([
  ['npm start   # here', ['#', 'here']],
  ['# a comment', ['#', 'a', 'comment']],
  ['curl https://a.example/x?watch=true', ['https://a.example/x?watch=true']],
  ['ls test/*.nothing; echo =x', ['test/*.nothing', '=x']],
  ['if [ -f a ]; then echo $?; fi; ls test/*.test.ts', []],
  ["curl 'https://a.example/?' \"# [a]\" -d @- <<'EOF'\n# [a]\nEOF\ntrue", []],
])('shells disagree about these words of %j: %j', (commands, words) => {
  expect(wordsOfOneShell(commands, root)).toEqual(words.filter((word) => /[#?*=]/.test(word)))
})

describe.each(pages)('%s', (page) => {
  test('has commands that work in every shell, in code blocks', async () => {
    const text = await readFile(join(root, page), 'utf8')
    const blocks = [...blocksIn(text).values()].flat()
    expect(blocks.flatMap((block) => wordsOfOneShell(block, root))).toEqual([])
    expect(text.match(/^ {4}(?:[A-Z_]+=\S+ )?(?:npm|npx|node|kubectl|curl|aws|helm|terraform) .*$/gm) ?? []).toEqual([])
  })

  test('names existing files', async () => {
    const missing = filesNamed(await proseOf(page)).filter((file) => !existsSync(join(root, file)))
    expect(missing).toEqual([])
  })

  test('links to existing targets', async () => {
    const missing: string[] = []
    for (const [, target = ''] of (await proseOf(page)).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? page : join(dirname(page), path)
      const headings = async () =>
        [...(await readFile(join(root, file), 'utf8')).matchAll(/^#+ (.*)$/gm)].map(([, text = '']) => slug(text))
      if (!existsSync(join(root, file)) || (anchor && !(await headings()).includes(anchor))) missing.push(target)
    }
    expect(missing).toEqual([])
  })
})

// threat: people-1
test('git ignores the files with credentials that commands of the pages write', () => {
  const files = [
    'demo.kubeconfig',
    'alice.kubeconfig',
    'eu.kubeconfig',
    'smoke.key',
    'revoked.txt',
    'keyplane-access-key',
  ]
  const all = [...files, 'keyplane-eu/keyplane-access-key', '.local/access-key']
  const ignored = execFileSync('git', ['check-ignore', '--no-index', ...all], { cwd: root, encoding: 'utf8' })
  expect(ignored.trim().split('\n')).toEqual(all)
})

describe('the pages', async () => {
  const names = Object.keys(documentation)

  test('are those of the table, with its titles', async () => {
    expect(pages.filter((page) => page.startsWith('docs/'))).toEqual(names.map((name) => `docs/${name}.md`).sort())
    const titles = names.map(async (name) => [
      name,
      /^# (.*)$/m.exec(await readFile(join(root, `docs/${name}.md`), 'utf8'))?.[1],
    ])
    expect(Object.fromEntries(await Promise.all(titles))).toEqual(documentation)
  })

  test('are the only ones that sources name', async () => {
    const sources = await Array.fromAsync(
      glob(
        [
          '{lib,infra,functions,test,.ci}/**/*.ts',
          'clients/*/{,src/**/}*.{ts,tsx,yml,yaml}',
          'clients/gitlab/templates/*.yml',
        ],
        {
          cwd: root,
        },
      ),
    )
    expect(sources.length).toBeGreaterThan(1000)
    const named = sources.map(async (file) =>
      [...(await readFile(join(root, file), 'utf8')).matchAll(/(?<![\w/-])docs\/([a-z][\w-]*)\.md/g)].map(
        ([, name = '']) => [file, name],
      ),
    )
    const found = (await Promise.all(named)).flat()
    expect(found.length).toBeGreaterThan(50)
    expect(found.filter(([, name = '']) => !names.includes(name))).toEqual([])
  })
})

/** The most words of a page, and of some pages: those that are lists. */
const MOST_WORDS = 1500
const moreWords: Readonly<Record<string, number>> = { threats: 5900, settings: 2550, cost: 2000, federation: 1600 }

const wordsIn = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length

test('a page has few enough words that somebody reads it', async () => {
  const counted = Object.keys(documentation).map(
    async (name) => [name, wordsIn(await readFile(join(root, `docs/${name}.md`), 'utf8'))] as const,
  )
  const words = await Promise.all(counted)
  expect(words.filter(([name, count]) => count > (moreWords[name] ?? MOST_WORDS))).toEqual([])
  const readme = wordsIn(await readFile(join(root, 'README.md'), 'utf8'))
  expect(readme).toBeLessThan(1000)
  expect(words.reduce((sum, [, count]) => sum + count, readme)).toBeLessThan(35_000)
})

describe('the threats', async () => {
  const page = await proseOf('docs/threats.md')
  const listed = [...page.matchAll(/^- `([a-z]+-\d+)` (.*)$/gm)].map(([, id = '', text = '']) => ({ id, text }))
  const files = await Array.fromAsync(glob('test/**/*.ts', { cwd: root }))
  const comments = await Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(root, file), 'utf8')
      return [...text.matchAll(/^ *\/\/ threat: (.*)\n(.*)$/gm)].map(([, ids = '', next = '']) => ({ file, ids, next }))
    }),
  )
  const held = comments.flat()
  const idsHeld = held.flatMap(({ ids }) => ids.split(', '))

  test('have an ID each, and say what prevents them', () => {
    expect(listed.length).toBeGreaterThan(300)
    expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length)
    expect(listed.filter(({ text }) => !/^[A-Z`"0-9].*\. \S.*\.$/.test(text))).toEqual([])
  })

  test('are each held by a test', () =>
    expect(listed.map(({ id }) => id).filter((id) => !idsHeld.includes(id))).toEqual([]))

  test('are those that the tests name, in a comment right above a test', () => {
    const known = listed.map(({ id }) => id)
    expect(idsHeld.filter((id) => !known.includes(id))).toEqual([])
    const before = /^ *(?:\/\/ |\/\*\*|(?:test|it|describe)\w*[.(<])/
    expect(held.filter(({ next }) => !before.test(next))).toEqual([])
  })

  test('are followed by what no test verifies', () => expect(page).toContain('\n## Not verified by a test\n'))
})
