import { expect, expectTypeOf, test } from 'vitest'
import { invalid, notSupported } from '../../../../../lib/engine/meta/errors/fielderror.ts'
import { objectMetaSchema } from '../../../../../lib/engine/meta/schema/objectmeta.ts'
import { type FromSchema, list, map, object, string } from '../../../../../lib/engine/meta/schema/schema.ts'
import type { ObjectMeta } from '../../../../../lib/engine/meta/types.ts'
import type { spec, status } from '../example.ts'

test('infers the types of values from the schema', () => {
  type Spec = FromSchema<typeof spec>
  expectTypeOf<Spec['ttl']>().toEqualTypeOf<number | undefined>()
  expectTypeOf<Spec['disabled']>().toEqualTypeOf<boolean | undefined>()
  expectTypeOf<Spec['type']>().toEqualTypeOf<'' | 'User' | 'Other' | undefined>()
  expectTypeOf<Spec['groups']>().toEqualTypeOf<string[] | undefined>()
  expectTypeOf<NonNullable<Spec['identity']>['extraClaims']>().toEqualTypeOf<Record<string, string> | undefined>()
  type Role = NonNullable<NonNullable<Spec['scope']>['roles']>[number]
  expectTypeOf<Role['role']>().toEqualTypeOf<string>()
  expectTypeOf<Role['projects']>().toEqualTypeOf<string[] | undefined>()
  type Condition = NonNullable<FromSchema<typeof status>['conditions']>[number]
  expectTypeOf<Condition>().toHaveProperty('type').toEqualTypeOf<string>()
})

test('infers the type of a schema with eight levels', () => {
  const deep = object('', {
    a: list('', map('', object('', { b: list('', object('', { c: map('', list('', string(''))) })) }))),
  })
  type Deep = FromSchema<typeof deep>
  expectTypeOf<Deep>().toEqualTypeOf<{ a?: Record<string, { b?: { c?: Record<string, string[]> }[] }>[] }>()
  expect(deep.type).toBe('object')
})

test('the schema of metadata declares the fields of its type', () => {
  expectTypeOf<keyof FromSchema<typeof objectMetaSchema>>().toEqualTypeOf<keyof ObjectMeta>()
  expect(objectMetaSchema.properties.finalizers.listType).toBe('set')
})

test.each([
  ['a"b\\\n', '"a\\"b\\\\\\n"'],
  ['\u0007\u202e\u00a0<ü>', '"\\a\\u202e\\u00a0<ü>"'],
  [{ b: '<', a: 1 }, '{"b":"\\u003c","a":1}'],
  [9007199254740993n, '9007199254740993'],
  [null, 'null'],
])('formats values in messages as Go does: %#', (value, shown) => {
  expect(invalid('f', value, 'd').message).toBe(`Invalid value: ${shown}: d`)
  expect(notSupported('f', value, ['x']).message).toBe(`Unsupported value: ${shown}: supported values: "x"`)
})
