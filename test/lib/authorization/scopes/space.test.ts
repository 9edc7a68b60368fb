import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseSpaceNamespace, spaceOf } from '../../../../lib/authorization/scopes/space.ts'
import { createServer } from '../../../../lib/server/server.ts'

const read = (setting: string, namespace: string) =>
  spaceOf(namespace, { spaceNamespace: parseSpaceNamespace(setting) })

const good = [
  'p-{project}-s-{space}',
  '{project}-{space}',
  'x{project}x{space}',
  'a-{project}--{space}-z',
  '0{project}-{space}0',
]
const bad = [
  '',
  'p-',
  '{project}',
  '{space}',
  '{project}{space}',
  '{space}-{project}',
  'p-{project}-s-{project}',
  'p-{project}-s-{space}-{space}',
  'p-{project}-{project}-s-{space}',
  '-{project}-s-{space}',
  'p-{project}-s-{space}-',
  'P-{project}-s-{space}',
  'p-{project}_{space}',
  'p-{project}.{space}',
  'p-{project}/{space}',
  'p-{Project}-s-{space}',
  'p-{project}-*-{space}',
  'p-{project}-s-{space}\n',
  ' p-{project}-s-{space}',
  'a-prefix-of-17-ch{project}-{space}',
  '{project}-nine-ch-{space}',
  '{project}-{space}-of-nine-',
]

describe('the template of space namespaces', () => {
  test.each(good)('accepts %j', (setting) => {
    expect(() => parseSpaceNamespace(setting)).not.toThrow()
  })

  test.each(bad)('rejects %j', (setting) => {
    expect(() => parseSpaceNamespace(setting)).toThrow('the namespaces of spaces must be DNS labels')
  })

  test('has the same format in the deployment’s check', () => {
    let properties: Record<string, { pattern: string }> = {}
    const Settings = createRequire(import.meta.url)('../../../../infra/plugins/settings.cjs')
    new Settings({
      configSchemaHandler: {
        defineCustomProperties(schema: { properties: { settings: { properties: typeof properties } } }) {
          properties = schema.properties.settings.properties
        },
      },
    })
    const rule = new RegExp(properties['space-namespace']?.pattern ?? '', 'u')
    for (const setting of good) expect([setting, rule.test(setting)]).toEqual([setting, true])
    for (const setting of bad) expect([setting, rule.test(setting)]).toEqual([setting, false])
  })
})

test('a server reads the template from its environment and refuses to start with an invalid one', async () => {
  const given = await readFile(new URL('../../../../infra/environment.yml', import.meta.url), 'utf8')
  expect(given).toMatch(/^SPACE_NAMESPACE: \$\{self:custom\.settings\.space-namespace\}$/m)
  const scopes = (SPACE_NAMESPACE?: string) =>
    createServer(SPACE_NAMESPACE === undefined ? {} : { SPACE_NAMESPACE }).scopes
  expect(scopes('{project}--{space}').spaceNamespace).toEqual({ prefix: '', separator: '--', suffix: '' })
  expect(scopes().spaceNamespace).toEqual({ prefix: 'p-', separator: '-s-', suffix: '' })
  expect(() => scopes('')).toThrow()
  expect(() => scopes('{space}-{project}')).toThrow()
})

describe('the space of a namespace', () => {
  test.each([
    ['p-{project}-s-{space}', 'p-shop-s-dev', 'shop', 'dev'],
    ['p-{project}-s-{space}', 'p-my-shop-s-dev-1', 'my-shop', 'dev-1'],
    ['p-{project}-s-{space}', 'p-p-s-p', 'p', 'p'],
    ['p-{project}-s-{space}', 'p-s-s-t', 's', 't'],
    ['{project}--{space}', 'shop--dev', 'shop', 'dev'],
    ['x{project}-{space}z', 'xshop-devz', 'shop', 'dev'],
  ])('with template %s is found in %s', (setting, namespace, project, space) => {
    expect(read(setting, namespace)).toEqual({ project, space })
  })

  test.each([
    ['p-{project}-s-{space}', 'p-shop-s-'],
    ['p-{project}-s-{space}', 'p--s-dev'],
    ['p-{project}-s-{space}', 'p-a-s-b-s-c'],
    ['p-{project}-s-{space}', 'p-a--s-b'],
    ['p-{project}-s-{space}', 'p-a-s--b'],
    ['p-{project}-s-{space}', 'P-a-s-b'],
    ['p-{project}-s-{space}', 'p-A-s-b'],
    ['p-{project}-s-{space}', `p-${'a'.repeat(60)}-s-b`],
    ['{project}--{space}', 'a---b'],
    ['{project}aa{space}', 'xaaay'],
    ['ab{project}-{space}bc', 'abc'],
    ['a{project}-{space}a', 'a'],
    ['x{project}-{space}z', 'xshop-dev'],
  ])('with template %s is not found in %s', (setting, namespace) => {
    expect(read(setting, namespace)).toBeUndefined()
  })

  test('is the original space or undefined', () => {
    const name = fc.stringMatching(/^[a-cs]([-abs]{0,6}[a-cs])?$/)
    fc.assert(
      fc.property(fc.constantFrom(...good), name, name, (setting, project, space) => {
        const found = read(setting, setting.replace('{project}', project).replace('{space}', space))
        expect([undefined, JSON.stringify({ project, space })]).toContain(found && JSON.stringify(found))
      }),
      { numRuns: 3000 },
    )
  })

  test('has exactly one namespace', () => {
    fc.assert(
      fc.property(fc.constantFrom(...good), fc.stringMatching(/^[-xpsz0a]{0,12}$/), (setting, namespace) => {
        const found = read(setting, namespace)
        if (found) expect(setting.replace('{project}', found.project).replace('{space}', found.space)).toBe(namespace)
      }),
      { numRuns: 3000 },
    )
  })
})
