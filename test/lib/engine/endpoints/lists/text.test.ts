import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { listPieces, type Pages, respondList } from '../../../../../lib/engine/endpoints/lists/text.ts'
import type { Output } from '../../../../../lib/engine/endpoints/negotiation/accept.ts'
import type { ApiRequest } from '../../../../../lib/engine/endpoints/request.ts'
import { encodeBody, type Printed } from '../../../../../lib/engine/endpoints/respond.ts'
import type { KubeObject } from '../../../../../lib/engine/meta/types.ts'
import { endless } from '../../../../support/deadlines.ts'

const kind: Printed = {
  group: 'example.test',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  singular: 'widget',
  scope: 'Cluster',
  description: '',
  schema: { spec: { type: 'object', fields: {} } as never },
  columns: [{ name: 'Size', type: 'string', description: '', value: ({ spec }) => spec?.size }],
}
const request: ApiRequest = {
  method: 'GET',
  path: '/',
  namespace: '',
  name: '',
  subresource: '',
  query: new Map([['includeObject', ['Object']]]),
  headers: {},
  body: new Uint8Array(),
  user: {} as never,
  requestId: '',
  now: new Date(0),
  deadline: endless,
}
const metadata = { resourceVersion: '7', continue: 'token', remainingItemCount: 3 }
const listing = (output: Output, pages: Pages) => ({ request, kind, metadata, output, pages })

const forms: Output[] = [
  { mediaType: 'application/json', pretty: false },
  { mediaType: 'application/json', pretty: true },
  { mediaType: 'application/yaml', pretty: false },
]
const transforms: (Output['transform'] | undefined)[] = [
  undefined,
  { as: 'Table', version: 'v1' },
  { as: 'PartialObjectMetadataList', version: 'v1' },
]
const outputs = forms.flatMap((form) => transforms.map((transform) => ({ ...form, ...(transform && { transform }) })))

const namedObject = (name: string, spec: KubeObject['spec'] = {}): KubeObject => ({
  apiVersion: 'example.test/v1',
  kind: 'Widget',
  metadata: { name },
  spec,
})

/** Texts with line breaks, indentation, or the syntax of a format. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc
    .array(fc.constantFrom('a', ' ', '\n', '  b\n', '- ', '\t', '[]', '|', ']}\n', '\r\n', '\u2028'), { maxLength: 8 })
    .map((all) => all.join('')),
)
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3 }),
  ),
}))
const object = fc
  .tuple(text, fc.dictionary(text, value, { maxKeys: 3 }))
  .map(([name, spec]) => namedObject(name, spec as never))

const join = async (pieces: AsyncIterable<string>): Promise<string> => (await Array.fromAsync(pieces)).join('')

describe('a list in pieces', () => {
  test.each(outputs)('equals the text of the whole list: %j', async (output) => {
    const of = (pages: Pages) => listPieces(listing(output, pages)).then(join)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(object, { maxLength: 3 }), { maxLength: 3 }), async (pages) => {
        const elements = await Promise.all(pages.flat().map(async (one) => JSON.parse(await element(output, one))))
        const head = JSON.parse(await join(await listPieces(listing({ ...output, ...json }, []))))
        const member = output.transform?.as === 'Table' ? 'rows' : 'items'
        const none = output.transform?.as === 'PartialObjectMetadataList' ? null : []
        expect(head[member]).toEqual(none)
        const whole = { ...head, [member]: elements.length > 0 ? elements : none }
        // A list does not need the YAML end-of-document marker.
        expect(await of(pages)).toBe((await encodeBody(whole, output)).replace(/\n\.\.\.\n$/, '\n'))
      }),
      { numRuns: 60 },
    )
  })

  const json = { mediaType: 'application/json', pretty: false } as const

  /** Returns the element of an object as JSON. */
  async function element(output: Output, one: KubeObject): Promise<string> {
    const list = JSON.parse(await join(await listPieces(listing({ ...output, ...json }, [[one]]))))
    return JSON.stringify((list.items ?? list.rows)[0])
  }

  const large = (index: number) => namedObject(`w${index}`, { size: 'x'.repeat(200_000) })

  test.each(outputs.filter(({ transform }) => transform?.as !== 'PartialObjectMetadataList'))(
    'decodes one large object at a time: %j',
    async (output) => {
      let made = 0
      function* objects() {
        for (; made < 5; ) yield large(made++)
      }
      const seen: number[] = []
      for await (const _ of await listPieces(listing(output, [objects()]))) seen.push(made)
      expect(seen).toEqual([1, 2, 3, 4, 5, 5])
    },
  )

  function* failAfter(after: number): Generator<KubeObject> {
    for (let index = 0; index < after; index++) yield large(index)
    throw new Error('unreadable')
  }

  test('an error before the first byte rejects the whole response', async () => {
    await expect(respondList(listing(json, [failAfter(0)]), [])).rejects.toThrow('unreadable')
    await expect(respondList(listing(json, [[namedObject('small')], failAfter(0)]), [])).rejects.toThrow('unreadable')
  })

  // The stream fails, so that the client never receives a valid but incomplete list.
  test('an error after the first byte fails the stream', async () => {
    const { status, body } = await respondList(listing(json, [failAfter(2)]), [])
    expect(status).toBe(200)
    const pieces: string[] = []
    const read = async () => {
      for await (const piece of body as AsyncIterable<string>) pieces.push(piece)
    }
    await expect(read()).rejects.toThrow('unreadable')
    expect(pieces).toHaveLength(2)
  })

  test('a short list is sent as one text', async () => {
    const { body, headers, warnings } = await respondList(listing(json, [[namedObject('a')], [namedObject('b')]]), [
      'careful',
    ])
    expect([typeof body, headers, warnings]).toEqual(['string', { 'content-type': 'application/json' }, ['careful']])
  })
})
