/** Values of a schema: right ones mostly, and as often as `oddness` says such as a client should not send. */
import type { ObjectSchema, Schema } from '../../lib/meta/schema.ts'
import type { Json } from '../conformance/scenario.ts'
import type { Random } from './random.ts'

/** Texts `@@…@@` become literals of JSON that JavaScript has no number for. */
export const literal = (text: string): string => `@@${text}@@`

export const withLiterals = (text: string): string => text.replace(/"@@([^"@]*)@@"/g, '$1')

const texts = ['', 'a', 'b', 'c', 'two words', 'Ünï', '<b>&', 'on', '010', 'a\nb', '"quoted"', 'null']
const times = ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.678+02:00', '2026-01-02t03:04:05z', '2026-01-02 03:04:05Z']
const badTimes = ['yesterday', '', '2026-13-02T03:04:05Z', '2026-01-02']
const strangers = [null, 5, 1.5, true, 'text', [], {}, ['x'], { x: 1 }, literal('9007199254740993')]
const integers = [0, 1, 5, 3600, literal('5.0'), literal('9007199254740993')]
const badIntegers = [-1, 1.5, '5', literal('9223372036854775808'), literal('1e3'), literal('-0'), literal('1e400')]

function textOf(schema: Schema & { type: 'string' }, random: Random, odd: boolean): Json {
  const { enum: allowed, format, maxLength } = schema
  if (allowed) return odd ? random.pick(['bogus', 'A']) : random.pick(allowed)
  if (format === 'date-time') return odd ? random.pick(badTimes) : random.pick(times)
  return odd && maxLength ? 'x'.repeat(maxLength + 1) : random.pick(texts)
}

export function sample(schema: Schema, random: Random, oddness: number): Json {
  // A list passes for a time there.
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
    members.push([random.pick(['unknown', 'DisplayName', 'x-y', 'toString']), random.pick(strangers)])
  return Object.fromEntries(members)
}
