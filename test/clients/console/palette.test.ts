/** Where the palette leads, and what it takes for the value of a key. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Choice, choicesFor, othersOf } from '../../../clients/console/src/shell/palette/choices.ts'
import { encodeKey } from '../../../lib/engine/meta/value/credentialformat.ts'
import { keyOf } from './keys.ts'

const VALUE = { state: 'Current', hint: '3jcxZS' } as const

const pages = [
  { page: 'keys', title: 'Keys' },
  { page: 'virtual-clusters', title: 'Virtual clusters' },
]
const keys = [
  ...['shop-ci', 'shop', 'new'].map((name) => keyOf({ name })),
  keyOf({ name: 'data', status: { hint: '9abcDE' } }),
  keyOf({ name: 'web', spec: { displayName: 'Front end' }, status: { owner: 'bob', values: [VALUE] } }),
]
const own: Choice[] = [{ id: 'own', title: 'Rotate', kind: 'Action' }]
const spec = { identityProvider: 'github', claims: [], displayName: 'Releases' }
const metadata = { name: 'shop-deploy', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' }
const others = othersOf(
  [{ metadata, spec, status: { owner: 'team:shop' } }],
  { virtualClusters: new Map([['data', ['analytics']]]), connected: ['eu-production'] },
  'p-',
)
const titles = (text: string) => choicesFor(text, { pages, keys, others }).map(({ title }) => title)

describe('the palette', () => {
  test.each([
    ['', ['Keys', 'Virtual clusters', 'New key', 'New trust', 'Report a leak', 'Whose key is this?', 'Sign out']],
    ['sho', ['shop', 'shop-ci', 'shop-deploy']],
    [' Shop ', ['shop', 'shop-ci', 'shop-deploy']],
    ['hop', ['shop', 'shop-ci', 'shop-deploy']],
    ['releases', ['shop-deploy']],
    ['team shop', ['shop-deploy']],
    ['analy', ['data/analytics']],
    ['product', ['eu-production']],
    ['e', ['eu-production']],
    ['new', ['new', 'New key', 'New trust']],
    ['new k', ['New key']],
    ['clus', ['Virtual clusters']],
    ['k', ['Keys', 'New key', 'Whose key is this?']],
    ['front', ['web']],
    ['bob', ['web']],
    ['3jcxZS', ['web']],
    ['9abcDE', ['data']],
    ['…3jcxzs', ['web']],
    ['leak', ['Report a leak']],
    ['a/b', []],
    ['../x', []],
  ])('leads for %j to %j', (text, expected) => expect(titles(text)).toEqual(expected))

  test('leads to the pages of trusts and clusters', () =>
    expect(others.map(({ choice }) => choice.href)).toEqual([
      '#/trusts/credentials/shop-deploy',
      '#/clusters/eu-production',
      '#/virtual-clusters/p-data/analytics',
    ]))

  test('begins with the actions of the page', () =>
    expect(['', 'r'].map((text) => choicesFor(text, { own, pages, keys })[0])).toEqual([own[0], own[0]]))

  test('shows eight keys at most', () => {
    const many = Array.from({ length: 20 }, (_, index) => keyOf({ name: `ci-${index}` }))
    for (const text of ['ci', 'i-']) expect(choicesFor(text, { pages, keys: many })).toHaveLength(8)
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
        expect(
          choicesFor(one, { pages, keys: [] }).filter(({ href = '' }) => href.includes(one.toLowerCase())),
        ).toEqual([])
      }),
    )
  })
})
