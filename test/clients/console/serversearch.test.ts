/** What the console asks the server for, where there are more keys than it reads, and what it says of the answer. */
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createApi } from '../../../clients/console/src/api/client.ts'
import { matcher, partsOf } from '../../../clients/console/src/keylist/filter.ts'
import { merged } from '../../../clients/console/src/keylist/searched.ts'
import { madeBy } from '../../../clients/console/src/keylist/selection.ts'
import {
  askServer,
  ownWords,
  questionOf,
  type Search,
  searchWords,
} from '../../../clients/console/src/keylist/serversearch.ts'
import { keyOf, NOW } from './keys.ts'

const root = new URL('https://keys.example.com/kubernetes/management/')
const asked: string[] = []

/** Answers every request of the console. */
function serve(status: number, body: object): void {
  vi.stubGlobal('fetch', async (url: URL) => {
    asked.push(`${url.pathname}${url.search}`)
    return new Response(JSON.stringify(body), { status })
  })
}
afterEach(() => {
  vi.unstubAllGlobals()
  asked.length = 0
})

const ask = (filter: string) => {
  const question = questionOf(partsOf(filter))
  if (!question) throw new Error(`no question in ${filter}`)
  return askServer({ api: createApi({ root, key: 'k' }), own: 'mine' }, question, new AbortController().signal)
}
const list = (names: readonly string[], more = false, owner = 'alice') => ({
  metadata: more ? { continue: 'c' } : {},
  items: names.map((name) => keyOf({ name, status: { owner } })),
})
const KEYS = '/kubernetes/management/apis/management.platform/v1/ownedaccesskeys'

describe('a filter', () => {
  test('asks for the names that begin with its word', async () => {
    serve(200, list(['ci-1', 'ci-10']))
    expect(await ask(' CI-1 ')).toMatchObject({ more: false, isKnown: true, keys: [{}, {}] })
    expect(asked).toEqual([`${KEYS}?limit=500&namePrefix=ci-1`])
  })

  test('asks for the keys of the owner that it names, whose separators are escaped', async () => {
    serve(200, list(['a'], true, 'a,b=c\\d'))
    expect(await ask('x owner:a,b=c\\d')).toMatchObject({ more: true, isKnown: true })
    const [selector] = asked.map((one) => new URL(one, root).searchParams.get('fieldSelector'))
    expect(selector).toBe('status.owner=a\\,b\\=c\\\\d')
  })

  test('asks for the keys that the key made which it names, and believes only keys that say so', async () => {
    serve(200, { metadata: {}, items: [keyOf({ status: { madeWith: { name: 'ci', uid: 'u' } } })] })
    expect(await ask('maker:ci x')).toMatchObject({ isKnown: true, keys: [{}] })
    expect(await ask('maker:other')).toMatchObject({ isKnown: false, keys: [] })
    expect(asked[0]).toBe(`${KEYS}?limit=500&fieldSelector=status.madeWith.name%3Dci`)
  })

  test('asks for the keys that the key of the session made, which do not say so', async () => {
    serve(200, list(['a']))
    expect(await ask('maker:mine')).toMatchObject({ isKnown: true, keys: [{}] })
    expect(await ask('maker:ci')).toMatchObject({ isKnown: false, keys: [] })
  })

  test('asks for both the owner and the maker, and believes only keys of both', async () => {
    serve(200, { metadata: {}, items: [keyOf({ status: { owner: 'bob', madeWith: { name: 'ci', uid: 'u' } } })] })
    expect(await ask('maker:ci owner:bob')).toMatchObject({ isKnown: true, keys: [{}] })
    expect(await ask('owner:alice maker:ci')).toMatchObject({ isKnown: false, keys: [] })
    expect(new URL(asked[0] ?? '', root).searchParams.get('fieldSelector')).toBe(
      'status.owner=bob,status.madeWith.name=ci',
    )
  })

  test.each(['', 'two words', 'team:shop', '-x', 'a/b', 'state:active', `mpk_${'a'.repeat(49)}`, 'f'.repeat(40)])(
    'with %j asks for nothing',
    (filter) => expect(questionOf(partsOf(filter))).toBeUndefined(),
  )
})

describe('a server', () => {
  test('that does not know the parameter finds nothing', async () => {
    serve(200, list(['ab', 'zz'], true))
    expect(await ask('ab')).toEqual({ keys: [], more: false, isKnown: false })
    serve(400, { message: 'field label not supported: status.owner' })
    expect(await ask('owner:alice')).toEqual({ keys: [], more: false, isKnown: false })
  })

  test('that fails is not one that finds nothing', async () => {
    serve(503, {})
    await expect(ask('ab')).rejects.toThrow('503')
  })
})

test('keys that were read and found are shown once', () => {
  const [a, b] = [keyOf({ name: 'a' }), keyOf({ name: 'b' })]
  expect(merged([a], [keyOf({ name: 'a' }), b])).toEqual([a, b])
  const read = [a]
  expect(merged(read, [a])).toBe(read)
  expect(merged(read, [])).toBe(read)
})

describe('the words say how much was searched', () => {
  const question = { kind: 'name', prefix: 'ci' } as const
  const answer = { keys: [keyOf()], more: false, isKnown: true }
  test.each([
    [
      {},
      'Searched the first 2500 of more keys. On the server you can search for the beginning of a name, owner:NAME or maker:NAME.',
    ],
    [{ question }, 'Searched the first 2500 of more keys. Searching the others…'],
    [{ question, answer }, 'Searched all names that begin with ci, and the other texts of the first 2500 keys.'],
    [
      { question, answer: { ...answer, more: true } },
      'Searched all names that begin with ci. These are the first 1 of them.',
    ],
    [{ question, answer: { ...answer, isKnown: false } }, 'Searched the first 2500 of more keys.'],
    [{ question, error: new Error('x') }, 'Searched the first 2500 of more keys. The others could not be searched.'],
    [
      { question: { kind: 'facts', owner: 'bob' } as const, answer },
      'Searched all keys of bob, and the other texts of the first 2500 keys.',
    ],
    [
      { question: { kind: 'facts', maker: 'ci' } as const, answer },
      'Searched all keys that ci made, and the other texts of the first 2500 keys.',
    ],
    [
      { question: { kind: 'facts', owner: 'bob', maker: 'ci' } as const, answer },
      'Searched all keys of bob that ci made, and the other texts of the first 2500 keys.',
    ],
  ])('%#', (search, words) => expect(searchWords(search)).toBe(words))
})

describe('the keys that the key of the session made', () => {
  const [made, other] = [keyOf({ name: 'made' }), keyOf({ name: 'other' })]
  const question = { kind: 'facts', maker: 'mine' } as const
  const answer = { keys: [made], more: false, isKnown: true }
  const shown = (filter: string, search: Search) =>
    [made, other].filter(matcher(filter, { now: NOW, made: madeBy(search) })).map(({ metadata }) => metadata.name)

  test('are those that the server has found', () => {
    expect(shown('maker:mine', { question, answer })).toEqual(['made'])
    expect(shown('maker:mine owner:nobody', { question, answer })).toEqual([])
    expect(shown('maker:ci', { question, answer })).toEqual([])
    expect(shown('maker:mine', {})).toEqual([])
  })

  test.each([
    [{}, 'Asking the server which keys mine made…'],
    [{ error: new Error('x') }, 'The server could not be asked which keys mine made.'],
    [{ question, answer: { ...answer, keys: [], isKnown: false } }, 'This server cannot say which keys mine made.'],
    [{ question, answer }, undefined],
    [{ question, answer: { ...answer, more: true } }, 'These are among the first 1 keys that mine made.'],
  ])('are not said to be none before the server has answered: %#', (search, words) =>
    expect(ownWords('mine', search)).toBe(words),
  )
})
