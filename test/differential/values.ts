/** Generates values of a schema: mostly valid, and invalid with the probability `oddness`. */
import type { ObjectSchema, Schema } from '../../lib/engine/meta/schema/schema.ts'
import type { Json } from '../conformance/scenario.ts'
import { listed, type Random } from './random.ts'

/** Turns texts `@@…@@` into JSON literals that JavaScript numbers cannot represent. */
export const literal = (text: string): string => `@@${text}@@`

export const withLiterals = (text: string): string =>
  text.replace(/"@@((?:[^"\\@]|\\.)*)@@"/g, (_, inner: string) => JSON.parse(`"${inner}"`))

export const oddCharacters = [...'\u0001\u001f\u007f\u0080\u00a0\u00ad\u200b\u{e0001}\u{1f600}\\\t']
const texts = listed(
  ' ; a ; b ; c ; two words ; Ünï ; <b>& ; on ; 010 ; a\nb ; "quoted" ; null ; a\u00a0b ; \u{1f600} ; a\\b',
)
const times = [
  ...listed('2026-01-02T03:04:05Z ; 2026-01-02T03:04:05.678+02:00 ; 2026-01-02t03:04:05z ; 2026-01-02 03:04:05Z'),
  ...listed('2026-01-02T03:04:05+99:99 ; 2026-01-02T03:04:05x7Z ; 2026-01-02T03:04:05Ztea'),
]
const badTimes = ['yesterday', '', '2026-13-02T03:04:05Z', '2026-01-02']
/** Floats with and without a fraction, at the limits of int32, int64 and float64, in different notations. */
const numbers = [
  ...listed('1e6 ; 1E0 ; 5.0 ; -5.0 ; -1234567.5 ; 0.00001 ; 1e21 ; -1e22 ; 12345678901234567890 ; 2147483648'),
  ...listed('-2147483649 ; 9007199254740992.0 ; 1e16 ; 9223372036854775807 ; -0.0 ; 1.7976931348623157e308 ; 5e-324'),
].map(literal)

const strangers = [null, 5, 1.5, true, 'text', [], {}, ['x'], { x: 1 }, literal('9007199254740993'), ...numbers]
const wholes = listed('5.0 ; 9007199254740993 ; 5e0 ; 1e3 ; 2147483648 ; 9223372036854775807').map(literal)
const integers = [0, 1, 5, 3600, ...wholes]
const badIntegers = [-1, 1.5, '5', literal('9223372036854775808'), literal('-0'), literal('1e400'), ...numbers]

function textOf(schema: Schema & { type: 'string' }, random: Random, odd: boolean): Json {
  const { enum: allowed, format, maxLength } = schema
  if (allowed) return odd ? random.pick(['bogus', 'A']) : random.pick(allowed)
  if (format === 'date-time') return odd ? random.pick(badTimes) : random.pick(times)
  return odd && maxLength ? 'x'.repeat(maxLength + 1) : random.pick(texts)
}

export function sample(schema: Schema, random: Random, oddness: number): Json {
  // kube-apiserver accepts a list as a time.
  const isTime = schema.type === 'string' && schema.format === 'date-time'
  if (random.chance(oddness / 4)) return random.pick(strangers.filter((one) => !(isTime && Array.isArray(one))))
  const odd = random.chance(oddness / 3)
  switch (schema.type) {
    case 'string':
      return textOf(schema, random, odd)
    case 'integer':
      return random.pick(odd ? badIntegers : integers)
    case 'boolean':
      return odd ? random.pick(['true', 0, 'yes']) : random.chance(0.5)
    case 'list':
      return Array.from({ length: random.below(4) }, () => sample(schema.items, random, oddness / 2))
    case 'map': {
      const keys = random.some(['a', 'b', 'x/y', 'with space'], 0.4)
      return Object.fromEntries(keys.map((key) => [key, sample(schema.values, random, oddness / 2)]))
    }
    case 'object':
      return sampleObject(schema, random, oddness)
  }
}

export function sampleObject(schema: ObjectSchema, random: Random, oddness: number, density = 0.35): Json {
  const members = Object.entries(schema.properties).flatMap(([name, member]): [string, Json][] =>
    schema.required?.includes(name) ? (random.chance(oddness) ? [] : [[name, sample(member, random, oddness)]]) : [],
  )
  const optional = Object.entries(schema.properties).filter(([name]) => !schema.required?.includes(name))
  for (const [name, member] of random.some(optional, density)) {
    members.push([name, random.chance(oddness / 3) ? null : sample(member, random, oddness)])
  }
  if (random.chance(oddness / 2))
    members.push([
      random.pick(['unknown', 'DisplayName', 'x-y', 'toString', `a${random.pick(oddCharacters)}b`]),
      random.pick(strangers),
    ])
  return Object.fromEntries(members)
}
