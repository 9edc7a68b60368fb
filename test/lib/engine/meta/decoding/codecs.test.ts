import { describe, expect, it } from 'vitest'
import {
  decodeApply,
  decodeBody,
  type MediaType,
  strictApplyError,
} from '../../../../../lib/engine/meta/decoding/codecs.ts'
import { StatusError } from '../../../../../lib/engine/meta/errors/status.ts'

const decode = (body: string | Uint8Array, mediaType: MediaType) =>
  decodeBody(typeof body === 'string' ? Buffer.from(body) : body, mediaType, { kind: 'OwnedAccessKey' })

const messageOf = async (action: Promise<unknown>): Promise<string> => {
  const error: unknown = await action.then(
    () => new Error('was not refused'),
    (caught: unknown) => caught,
  )
  expect(error).toBeInstanceOf(StatusError)
  expect((error as StatusError).status).toMatchObject({ code: 400, reason: 'BadRequest' })
  return (error as StatusError).message
}

const unrecognized = 'the object provided is unrecognized (must be of type OwnedAccessKey): '
const noKind = `${unrecognized}couldn't get version/kind; json parse error: `

/** What `curl -d @FILE` makes of YAML. */
const STRIPPED = ': the body has no line breaks, which curl keeps with --data-binary, not with -d'

describe('decodeBody', () => {
  it('decodes JSON and YAML and reports duplicate keys', async () => {
    const value = { spec: { ttl: 2 } }
    const field = 'duplicate field "spec.ttl"'
    expect(await decode('{"spec":{"ttl":1,"ttl":2}}', 'json')).toEqual({
      value,
      duplicates: [field],
      strict: [field],
      floats: new Map(),
    })
    const lines = ['line 3: key "ttl" already set in map', 'line 4: key "ttl" already set in map']
    expect(await decode('spec:\n  ttl: 1\n  ttl: 1\n  ttl: 2\n', 'yaml')).toEqual({
      value,
      duplicates: lines,
      strict: [`yaml: unmarshal errors:\n  ${lines.join('\n  ')}`],
      floats: new Map(),
    })
    expect(await decode('spec: {ttl: 2}', 'yaml')).toMatchObject({ value, duplicates: [], strict: [] })
    expect(await decode('{"spec":{"ttl":2.0}}', 'yaml')).toMatchObject({ value, floats: new Map() })
    expect(await decode('{"spec":{"ttl":2.0}}', 'json')).toMatchObject({
      value,
      floats: new Map([['spec.ttl', '2.0']]),
    })
    expect((await decode('{"displayName":"grün ☂"}', 'json')).value).toEqual({ displayName: 'grün ☂' })
  })

  it.each<[string, MediaType, string]>([
    ['{', 'json', `${noKind}unexpected end of JSON input ({)`],
    ['', 'json', `${unrecognized}the request has no body: send the object as JSON or YAML (<empty>)`],
    ['', 'yaml', `${unrecognized}the request has no body: send the object as JSON or YAML (<empty>)`],
    [' ', 'json', `${noKind}unexpected end of JSON input (20)`],
    ['{"apiVersion": ', 'json', `${noKind}unexpected end of JSON input ({"apiVersion": )`],
    ['nope', 'json', `${noKind}invalid character 'o' in literal null (expecting 'u') (6e6f7065)`],
    ['{"a":1}true', 'json', `${noKind}invalid character 't' after top-level value ({"a":1}true)`],
    ['\ufeff{}', 'json', `${noKind}invalid character 'ï' looking for beginning of value (efbbbf7b7d)`],
    ['a: [', 'yaml', `${unrecognized}yaml: line 1: did not find expected node content (613a205b)`],
    [
      'a: b: c',
      'yaml',
      `${unrecognized}yaml: line 1: mapping values are not allowed in this context${STRIPPED} (613a20623a2063)`,
    ],
    [
      'a: 1\nb: c: d',
      'yaml',
      `${unrecognized}yaml: line 2: mapping values are not allowed in this context (613a20310a623a20633a2064)`,
    ],
  ])('throws 400 for %j as %s', async (body, mediaType, message) => {
    expect(await messageOf(decode(body, mediaType))).toBe(message)
  })

  it('accepts a byte order mark before YAML, as Go does', async () =>
    expect((await decode('\ufeffa: 1', 'yaml')).value).toEqual({ a: 1 }))

  it('rejects invalid UTF-8', async () => {
    expect(await messageOf(decode(Buffer.from([0x22, 0xff, 0x22]), 'json'))).toBe(`${noKind}invalid UTF-8 (22ff22)`)
    expect(await messageOf(decode(Buffer.from([0xc3]), 'yaml'))).toBe(`${unrecognized}invalid UTF-8 (c3)`)
  })

  it('quotes no part of a body that can contain an access key', async () => {
    const key = 'k'.repeat(32)
    for (const body of [key, `{"spec":{"key":"${key}"`, `{"key":"${key}`, `spec: {key: ${key}`]) {
      for (const mediaType of ['json', 'yaml'] as const) {
        const message = await decode(`${body}\u0000`, mediaType).then(
          () => '',
          (error: Error) => error.message,
        )
        expect(message).toMatch(/\(<redacted>\)$/)
        expect(message).not.toMatch(/kkk|6b6b6b/)
      }
    }
    expect(await messageOf(decode(`{${' '.repeat(29)}`, 'json'))).toContain(`({${' '.repeat(29)})`)
    expect(await messageOf(decode(`{${' '.repeat(30)}`, 'json'))).toContain('(<redacted>)')
  })
})

describe('decodeApply', () => {
  const twice = 'a: 1\na: 2\na: 3\n'
  const findings = ['line 2: key "a" already set in map', 'line 3: key "a" already set in map']

  it('reports duplicate keys', async () => {
    expect(await decodeApply(Buffer.from(twice))).toEqual({ config: { a: 3 }, duplicates: findings })
    expect(await decodeApply(Buffer.from('{"a":1}'))).toEqual({ config: { a: 1 }, duplicates: [] })
    expect(await decodeApply(Buffer.from(''))).toEqual({ config: {}, duplicates: [] })
    const why = `error converting YAML to JSON: yaml: unmarshal errors:\n  ${findings.join('\n  ')}`
    expect(strictApplyError(findings)).toMatchObject({ message: `error strict decoding YAML: ${why}` })
  })

  const noMap = 'error unmarshaling JSON: while decoding JSON: json: cannot unmarshal'
  it.each([
    ['a: [', 'error decoding YAML: error converting YAML to JSON: yaml: line 1: did not find expected node content'],
    [
      'a: b: c',
      `error decoding YAML: error converting YAML to JSON: yaml: line 1: mapping values are not allowed in this context${STRIPPED}`,
    ],
    ['[]', `error decoding YAML: ${noMap} array into Go value of type map[string]interface {}`],
    ['yes', `error decoding YAML: ${noMap} bool into Go value of type map[string]interface {}`],
  ])('throws 400 for %j', async (text, message) => {
    expect(await messageOf(decodeApply(Buffer.from(text)))).toBe(message)
  })
})
