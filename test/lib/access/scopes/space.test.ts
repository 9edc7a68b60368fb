import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseSpaceNamespace, spaceOf } from '../../../../lib/access/scopes/space.ts'
import { createServer } from '../../../../lib/server/server.ts'
import { played, runs } from '../../../support/effort.ts'
import cases from './vectors/space.cases.json' with { type: 'json' }

const read = (setting: string, namespace: string) =>
  spaceOf(namespace, { spaceNamespace: parseSpaceNamespace(setting) })

const good = [
  'p-{project}-s-{space}',
  '{project}-{space}',
  'x{project}x{space}',
  'a-{project}--{space}-z',
  '0{project}-{space}0',
]
const bad = cases.bad

describe('the template of space namespaces', () => {
  test.each(good)('accepts %j', (setting) => expect(() => parseSpaceNamespace(setting)).not.toThrow())

  test.each(bad)('rejects %j', (setting) => {
    expect(() => parseSpaceNamespace(setting)).toThrow('the namespaces of spaces must be DNS labels')
  })
})

test('a server reads the template from its environment and refuses to start with an invalid one', () => {
  const scopes = (SPACE_NAMESPACE?: string) =>
    createServer(SPACE_NAMESPACE === undefined ? {} : { SPACE_NAMESPACE }).scopes
  expect(scopes('{project}--{space}').spaceNamespace).toEqual({ prefix: '', separator: '--', suffix: '' })
  expect(scopes().spaceNamespace).toEqual({ prefix: 'p-', separator: '-s-', suffix: '' })
  expect(() => scopes('')).toThrow()
  expect(() => scopes('{space}-{project}')).toThrow()
})

describe('the space of a namespace', () => {
  test.each(cases.found as [string, string, string, string][])(
    'with template %s is found in %s',
    (setting, namespace, project, space) => {
      expect(read(setting, namespace)).toEqual({ project, space })
    },
  )

  test.each(cases.notFound as [string, string][])('with template %s is not found in %s', (setting, namespace) =>
    expect(read(setting, namespace)).toBeUndefined(),
  )

  const name = fc.stringMatching(/^[a-cs]([-abs]{0,6}[a-cs])?$/)

  test('is the original one, or none if the names and the separator contain that twice', () => {
    fc.assert(
      fc.property(fc.constantFrom(...good), name, name, (setting, project, space) => {
        const { separator } = parseSpaceNamespace(setting)
        const names = project + separator + space
        const isClear = names.indexOf(separator) === names.lastIndexOf(separator)
        const found = read(setting, setting.replace('{project}', project).replace('{space}', space))
        expect(found).toEqual(isClear ? { project, space } : undefined)
      }),
      runs(3000),
    )
  })

  test('has exactly one namespace', () => {
    const text = fc.stringMatching(/^[-xpsz0a]{0,4}$/)
    let count = 0
    fc.assert(
      fc.property(fc.constantFrom(...good), text, text, (setting, project, space) => {
        const namespace = setting.replace('{project}', project).replace('{space}', space)
        const found = read(setting, namespace)
        if (!found) return
        count++
        expect(setting.replace('{project}', found.project).replace('{space}', found.space)).toBe(namespace)
      }),
      runs(3000),
    )
    expect(count).toBeGreaterThan(played(500))
  })
})
