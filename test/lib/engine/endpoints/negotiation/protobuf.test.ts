import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeProtobuf } from '../../../../../lib/engine/endpoints/negotiation/protobuf.ts'
import { StatusError } from '../../../../../lib/engine/meta/errors/status.ts'
import type { ProtobufMessage } from '../../../../../lib/engine/registry/protobuf.ts'
import { envelope, field, message } from '../../../../support/protobuf.ts'

const fields: ProtobufMessage = {
  1: { name: 'name', type: 'string' },
  2: { name: 'groups', type: 'strings' },
  3: { name: 'extra', type: 'map' },
}
const description: ProtobufMessage = { 2: { name: 'spec', type: 'message', fields } }
const type = { apiVersion: 'example.com/v1', kind: 'Thing' }
const encodeSpec = (...spec: Uint8Array[]) => envelope(type.apiVersion, type.kind, field(2, message(...spec)))
const decodeSpec = (...spec: Uint8Array[]) => decodeProtobuf(encodeSpec(...spec), description)
const values = (...items: string[]) => message(...items.map((item) => field(1, item)))
const expectRefusal = (body: Uint8Array) => {
  const attempt = () => decodeProtobuf(body, description)
  expect(attempt).toThrow(StatusError)
  expect(attempt).toThrow('not a well-formed Kubernetes protobuf object')
}

describe('an object in protobuf', () => {
  it('has the fields that its kind describes', () => {
    const object = decodeSpec(
      field(1, 'alice'),
      field(2, 'a'),
      field(2, ''),
      field(2, 'ü'),
      field(3, message(field(1, 'k'), field(2, values('x', 'y')))),
      field(3, message(field(1, 'none'))),
      field(3, field(2, values('of the empty key'))),
    )
    const extra = { k: ['x', 'y'], none: [], '': ['of the empty key'] }
    expect(object).toEqual({ ...type, spec: { name: 'alice', groups: ['a', '', 'ü'], extra } })
  })

  it('omits unknown fields and fields of other wire types', () => {
    const others = Buffer.from([0x48, 0xff, 0x01, 0x51, 1, 2, 3, 4, 5, 6, 7, 8, 0x5d, 1, 2, 3, 4])
    expect(decodeSpec(others, field(7, 'x'), field(1, ''))).toEqual({ ...type, spec: {} })
  })

  it('keeps the later of two map entries with the same key', () => {
    const entry = (value: string) => field(3, message(field(1, 'k'), field(2, values(value))))
    expect(decodeSpec(entry('first'), entry('second'))).toMatchObject({ spec: { extra: { k: ['second'] } } })
  })

  it.each([
    ['no envelope', Buffer.from('{}')],
    ['nothing', Buffer.alloc(0)],
    ['a truncated length', message(Buffer.from('k8s\0'), Buffer.from([0x12, 0xff]))],
    ['a length beyond the end', message(Buffer.from('k8s\0'), Buffer.from([0x12, 0x7f, 1]))],
    ['a group', encodeSpec(Buffer.from([0x0b]))],
    ['text that is not UTF-8', encodeSpec(field(1, Buffer.from([0xff])))],
    ['the key __proto__', encodeSpec(field(3, message(field(1, '__proto__'), field(2, values('x')))))],
  ])('with %s is rejected', (_, body) => expectRefusal(body))

  it('is rejected quickly when it has more values than a JSON body may have', () => {
    const empty = Buffer.concat(Array.from({ length: 100_000 }, () => field(2, '')))
    expectRefusal(encodeSpec(empty))
    expect(decodeSpec(empty.subarray(0, 2 * 99_000))).toMatchObject({ spec: { groups: { length: 99_000 } } })
  })

  it('is decoded or rejected with a 400, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        for (const body of [bytes, message(Buffer.from('k8s\0'), bytes), encodeSpec(bytes)]) {
          try {
            const { spec } = decodeProtobuf(body, description)
            expect(Object.getPrototypeOf(spec ?? {})).toBe(Object.prototype)
          } catch (error) {
            expect(error).toBeInstanceOf(StatusError)
          }
        }
      }),
    )
  })
})
