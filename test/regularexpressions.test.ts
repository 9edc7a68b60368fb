/**
 * Checks that regular expressions take linear time. One that backtracks lets a request of a few kilobytes keep a function
 * busy for seconds. A static analyser judges every expression that matches text from clients.
 */
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { check } from 'recheck'
import { expect, test } from 'vitest'
import { parseAst } from 'vitest/node'
import { soak } from './support/effort.ts'

const root = join(import.meta.dirname, '..')

/** Expressions that match only short text or text that no client writes: by file, with the reason. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  // The text is a pattern of a schema in this project.
  'lib/engine/meta/schema/formats.ts': ['/\\[[^\\]]*\\]/g'],
  // The text is the name of a trust, cut to 200 characters.
  'lib/federation/trust.ts': ['/[-.]+$/'],
}

/** Files that build expressions from text. The comment names the text. */
const made: readonly string[] = [
  // Patterns of schemas. It accepts only safe ones.
  'lib/engine/meta/schema/formats.ts',
  // Constants of the file, over at most 600 characters.
  'lib/access/scopes/place.ts',
  // A Resource of a policy that the authorizer writes.
  'infra/local/gateway/policy.ts',
]

interface Found {
  file: string
  pattern: string
  flags: string
}

/** Returns all literals and the files that build expressions in another way. */
async function expressions(): Promise<{ literals: Found[]; makers: Set<string> }> {
  const literals: Found[] = []
  const makers = new Set<string>()
  const files = await Array.fromAsync(glob(['lib/**/*.ts', 'functions/**/*.ts', 'infra/local/**/*.ts'], { cwd: root }))
  for (const file of files.sort()) {
    const visit = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return
      const { type, regex, callee } = node as {
        type?: string
        regex?: { pattern: string; flags: string }
        callee?: { name?: string }
      }
      if (type === 'Literal' && regex) literals.push({ file, ...regex })
      if (callee?.name === 'RegExp') makers.add(file)
      Object.values(node).forEach(visit)
    }
    visit(parseAst(await readFile(join(root, file), 'utf8'), { lang: 'ts' }))
  }
  return { literals, makers }
}

/** Escapes, classes and names of groups, or long words, whose ends are captured. */
const words = /\\.|\[(?:\\.|[^\]\\])*\]|\(\?<\w+>|([A-Za-z -]{2})[A-Za-z -]{2,}([A-Za-z -]{2})(?![?*+{])/g

/**
 * Returns nothing for linear time, else the verdict of the analyser. It treats a bound of five or more as unbounded, which is stricter
 * and can be proven. Without a proof, as for a look-ahead or a reference to a group, there is no verdict: the analyser would try as many
 * random texts as the machine has time for. Its time grows with the square of a word, so only `npm run test:soak` gives it whole words,
 * of which some are too large for a proof.
 */
async function fault(pattern: string, flags: string): Promise<string | undefined> {
  const unbounded = pattern.replace(/\{(\d+),([5-9]|\d{2,})\}/g, '{$1,}').replace(/\{\d{2,}\}/g, '+')
  const short = unbounded.replace(words, (whole, start, end) => (start === undefined ? whole : start + end))
  // `npm test` has proven it.
  if (soak && short === unbounded) return undefined
  const found = soak
    ? await check(unbounded, flags, { timeout: null, randomSeed: 20261121 })
    : await check(short, flags, { checker: 'automaton', timeout: null })
  if (found.status === 'safe') return undefined
  return found.status === 'vulnerable' ? found.complexity.summary : found.error.kind
}

// threat: gateway-7
test('every regular expression takes linear time', async () => {
  const { literals, makers } = await expressions()
  expect(literals.length).toBeGreaterThan(100)
  expect([...makers].sort()).toEqual([...made].sort())
  const slow: string[] = []
  const texts = new Map(literals.map((one) => [`/${one.pattern}/${one.flags}`, one]))
  for (const [text, { file, pattern, flags }] of texts) {
    if (exceptions[file]?.includes(text)) continue
    const found = await fault(pattern, flags)
    if (found !== undefined) slow.push(`${file}: ${text} is ${found}`)
  }
  expect(slow).toEqual([])
  const unused = Object.entries(exceptions).filter(
    ([file, all]) =>
      !all.every((text) => literals.some((one) => one.file === file && `/${one.pattern}/${one.flags}` === text)),
  )
  expect(unused).toEqual([])
})
