/** The style sheet and the components: a class that one of them has, the other has too. */
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'

const src = join(import.meta.dirname, '../../../clients/console/src')

async function read(pattern: string): Promise<string> {
  const files = await Array.fromAsync(glob(pattern, { cwd: src }))
  return (await Promise.all(files.map((file) => readFile(join(src, file), 'utf8')))).join('\n')
}

const found = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, one = '']) => one)
const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '')

describe('a class', () => {
  let styled: Set<string>
  let code: string
  beforeAll(async () => {
    const styles = (await read('styles/*.css')).replace(/\/\*[\s\S]*?\*\/|"[^"]*"|@import[^;]*;/g, '')
    const selectors = found(styles, /([^{};]*)\{/g).join('\n')
    styled = new Set(found(selectors, /\.([a-z][\w-]*)/gi))
    code = await read('**/*.{ts,tsx}')
  })

  test('of the style sheet is one of some component', () => {
    expect(styled.size).toBeGreaterThan(50)
    // Words of components and of modules that choose a class, such as `good` or `later`.
    const texts = new Set([
      ...found(code, /'([^'\n]*)'/g).flatMap(words),
      ...found(code, /"([^"\n]*)"/g).flatMap(words),
      ...found(code, /`([^`$\n]*)\$/g).flatMap(words),
      ...found(code, /^ {2}([a-z]+):/gm),
    ])
    expect([...styled].filter((name) => !texts.has(name))).toEqual([])
  })

  test('of a component is in the style sheet', () => {
    const used = new Set([
      ...found(code, /\bclass="([^"]*)"/g).flatMap(words),
      ...found(code, /\bclass=\{[^'}]*\? '([^']*)'/g).flatMap(words),
      ...found(code, /\bclass=\{[^'}]*\? '[^']*' : '([^']*)'/g).flatMap(words),
      ...found(code, /\bclass=\{`([^`$]*)\$/g).flatMap(words),
    ])
    expect(used.size).toBeGreaterThan(50)
    expect([...used].filter((name) => !styled.has(name))).toEqual([])
  })
})
