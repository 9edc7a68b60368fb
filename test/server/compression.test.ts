/** Tests which answers are compressed, and that compression does not change them. */
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { compressBody } from '../../lib/server/lambda/compression.ts'
import type { LambdaResponse } from '../../lib/server/lambda/lambdaevents.ts'
import cases from './vectors/compression.cases.json' with { type: 'json' }

const bound = 128 * 1024
const large = 'ä'.repeat(bound)
const gzip = { 'Accept-Encoding': 'gzip' }

type Body = LambdaResponse['body']

async function* pieces(...texts: string[]): AsyncGenerator<string> {
  yield* texts
}

/** Returns the answer of a streaming function with an unread body. */
function compressAnswer(body: Body, headers: object, more: object = {}, compresses = true) {
  const response = { statusCode: 200, headers: { 'content-type': 'text/plain' }, multiValueHeaders: {}, body, ...more }
  const answer = compressBody(response, { headers } as never, { streams: true, compresses })
  return { headers: answer.headers, source: answer.body as unknown as Readable }
}

/** Returns the text and reports whether it was compressed. */
async function read(body: Body, headers: object, more: object = {}): Promise<[text: string, compressed: boolean]> {
  const { headers: sent, source } = compressAnswer(body, headers, more)
  const bytes = await buffer(source)
  const isCompressed = sent['content-encoding'] === 'gzip'
  expect(sent.vary).toBe(isCompressed ? 'Accept-Encoding' : undefined)
  expect(sent['content-type']).toBe('text/plain')
  return [(isCompressed ? gunzipSync(bytes) : bytes).toString(), isCompressed]
}

test('a buffered function returns plain text, which the gateway compresses', () => {
  const response = { statusCode: 200, headers: {}, multiValueHeaders: {}, body: large }
  expect(compressBody(response, { headers: gzip } as never, { streams: false, compresses: true })).toEqual(response)
})

describe('a streaming function', () => {
  test.each([
    ['text of more than 128 KiB', 'x'.repeat(bound + 1), true],
    ['no text of 128 KiB or less', 'x'.repeat(bound), false],
    ['by the number of bytes, not characters', 'ä'.repeat(bound / 2 + 1), true],
    ['no empty text', '', false],
  ])('compresses %s', async (_, text, isCompressed) => expect(await read(text, gzip)).toEqual([text, isCompressed]))

  test('compresses answers in pieces, but not events, which would wait for the next ones', async () => {
    expect(await read(pieces('ä', '{"b":', '"𝄞"}'), gzip)).toEqual(['ä{"b":"𝄞"}', true])
    expect(await read(pieces('{}\n', '\n'), gzip, { immediate: true })).toEqual(['{}\n\n', false])
  })

  test.each(cases.encodings as [object | null, boolean][])(
    'compresses for a client that sends %j: %s',
    async (headers, isCompressed) => {
      expect(await read(large, headers as object)).toEqual([large, isCompressed])
    },
  )

  test.each([large, pieces(large)])('compresses nothing when the deployment turns it off', async (body) => {
    const { headers, source } = compressAnswer(body, gzip, {}, false)
    expect((await buffer(source)).toString()).toBe(large)
    expect(headers).toEqual({ 'content-type': 'text/plain' })
  })

  test.each([gzip, {}])('does not end an answer cleanly when it fails halfway: %j', async (headers) => {
    async function* failHalfway(): AsyncGenerator<string> {
      yield large
      throw new Error('halfway')
    }
    await expect(buffer(compressAnswer(failHalfway(), headers).source)).rejects.toThrow('halfway')
  })

  // threat: use-3
  test.each([gzip, {}])('does not end an answer cleanly when it is cut while nobody reads it: %j', async (headers) => {
    const cut = new AbortController()
    async function* waiting(): AsyncGenerator<string> {
      yield large
      await new Promise(() => {})
    }
    const { source } = compressAnswer(waiting(), headers, { cut: cut.signal })
    const ended = buffer(source)
    cut.abort()
    await expect(ended).rejects.toThrow()
  })

  test.each([gzip, {}])('stops reading when the client disconnects: %j', async (headers) => {
    const left = Promise.withResolvers<void>()
    async function* endless(): AsyncGenerator<string> {
      try {
        for (;;) yield large
      } finally {
        left.resolve()
      }
    }
    const { source } = compressAnswer(endless(), headers)
    source.once('data', () => source.destroy())
    await left.promise
  })
})
