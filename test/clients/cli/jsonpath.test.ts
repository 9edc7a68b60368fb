import { describe, expect, test } from 'vitest'
import { jsonpath } from '../../../clients/cli/src/output/jsonpath.ts'

const list = {
  kind: 'List',
  items: [
    { metadata: { name: 'a', labels: { 'app/x': 'one' } }, spec: { ttl: 60 } },
    { metadata: { name: 'b' }, spec: { scope: { projects: [{ project: 'p' }] } } },
  ],
}

describe('-o jsonpath', () => {
  test.each([
    ['{.kind}', 'List'],
    ['.kind', 'List'],
    ['kind', 'List'],
    ['{$.kind}', 'List'],
    ['{.items[*].metadata.name}', 'a b'],
    ['{.items[0].spec.ttl}', '60'],
    ['{.items[-1].metadata.name}', 'b'],
    ['{.items[0].metadata.labels["app/x"]}', 'one'],
    ["{.items[0].metadata.labels['app/x']}", 'one'],
    ['{.items[1].spec}', '{"scope":{"projects":[{"project":"p"}]}}'],
    ['{range .items[*]}{.metadata.name}={.spec.ttl}{"\\n"}{end}', 'a=60\nb=\n'],
    ['name: {.items[1].metadata.name}!', 'name: b!'],
    ['{.items[7].metadata.name}{.nothing}{.kind.length}{.constructor}{.__proto__}', ''],
    ['{"}"}', '}'],
  ])('%s is %j', (template, text) => expect(jsonpath(template, list)).toBe(text))

  test.each([
    ['{.kind', 'a brace is not closed'],
    ['{range .items[*]}{.kind}', 'a {range} has no {end}'],
    ['{.kind}{end}', 'there is an {end} without {range}'],
    ['{.items[?(@.a=="b")]}', 'is not a path'],
    ['{.items..name}', 'is not a path'],
    ['{"\\x"}', 'is no text'],
  ])('%s is refused: %s', (template, why) => expect(() => jsonpath(template, list)).toThrow(why))
})
