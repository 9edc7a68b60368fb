/** Where the palette leads, and what it takes for the value of a key. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { choicesFor } from '../../../clients/console/src/shell/palette/choices.ts'
import { encodeKey } from '../../../lib/engine/meta/value/credentialformat.ts'
import { keyOf } from './keys.ts'

const pages = [
  { page: 'keys', title: 'Keys' },
  { page: 'virtual-clusters', title: 'Virtual clusters' },
]
const keys = ['shop-ci', 'shop', 'data', 'new'].map((name) => keyOf({ name }))
const titles = (text: string) => choicesFor(text, pages, keys).map(({ title }) => title)

describe('the palette', () => {
  test.each([
    ['', ['Keys', 'Virtual clusters', 'New key', 'New trust', 'Whose key is this?', 'Sign out']],
    ['sho', ['shop', 'shop-ci', 'Open key sho']],
    [' Shop ', ['shop', 'shop-ci']],
    ['hop', ['Open key hop']],
    ['new', ['new', 'New key', 'New trust']],
    ['new k', ['New key']],
    ['clus', ['Virtual clusters', 'Open key clus']],
    ['k', ['Keys', 'New key', 'Whose key is this?', 'Open key k']],
    ['a/b', []],
    ['../x', []],
  ])('leads for %j to %j', (text, expected) => expect(titles(text)).toEqual(expected))

  test('shows eight keys at most', () => {
    const many = Array.from({ length: 20 }, (_, index) => keyOf({ name: `ci-${index}` }))
    expect(choicesFor('ci', pages, many)).toHaveLength(9)
  })

  test('leads to no address with a value, whatever a client has supplied', () => {
    const value = fc.oneof(
      fc.uint8Array({ minLength: 32, maxLength: 32 }).map(encodeKey),
      fc.stringMatching(/^[0-9a-f]{32,64}$/),
      fc.stringMatching(/^[A-Za-z0-9]{32,64}$/),
      fc.constant('eyJhbGciOiJub25lIn0.e30.'),
    )
    fc.assert(
      fc.property(value, (one) => {
        expect(choicesFor(one, pages, []).filter(({ href = '' }) => href.includes(one.toLowerCase()))).toEqual([])
      }),
    )
  })
})
