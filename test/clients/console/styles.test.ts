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

describe('a neutral badge', () => {
  /** Returns the relative luminance of a colour (WCAG 2.2). */
  const luminance = (colour: string): number => {
    const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    const [red = 0, green = 0, blue = 0] = parts.map((one) =>
      one > 0.04045 ? ((one + 0.055) / 1.055) ** 2.4 : one / 12.92,
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const contrast = (one: string, other: string): number => {
    const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
    return (light + 0.05) / (dark + 0.05)
  }

  test.each(['light', 'dark'])(
    'is visible on everything that it is shown on, also below the pointer: %s',
    async (scheme) => {
      const tokens = await read('styles/tokens.css')
      const colourOf = (name: string) => {
        const [, light = '', dark = ''] =
          new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(tokens) ?? []
        return scheme === 'light' ? light : dark
      }
      const rules = await read('styles/*.css')
      expect(rules).toMatch(/\.badge \{[^}]*background: var\(--tone-soft, var\(--neutral-soft\)\)/)
      expect(rules).toMatch(/tr:hover \{\s*background: var\(--inset\)/)
      for (const below of ['surface', 'ground', 'raised', 'inset']) {
        expect([below, contrast(colourOf('neutral-soft'), colourOf(below))]).toEqual([
          below,
          expect.toSatisfy((one: number) => one > 1.1),
        ])
      }
    },
  )
})
