/** Sends objects of every kind, with each member of its own set to what it should not be or left out, in every way to write them. */
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { kindRows, MANAGEMENT_GROUP } from '../../lib/kinds.ts'
import { kinds } from '../../lib/server/servedkinds.ts'
import { runs, soak } from '../support/effort.ts'
import { type Invocation, useFunctions } from '../support/functions.ts'
import { failureIn, membersOf, WRONG, withMember } from '../support/hostilemembers.ts'
import { accessKeys, callsOf, clusters, instances, objectOf, providers, trusts } from './stored/fixtures.ts'

const functions = useFunctions()
const stored = [accessKeys, instances, providers, trusts, clusters]

/** The functions of kinds that are only created, with their kinds. */
const virtual = kindRows
  .filter(({ archetype }) => archetype === 'virtual')
  .map(({ kind, group, plural, singular, subresource = 'create' }) => {
    const verb = subresource === 'kubeconfig' ? 'kubeconfig/create' : subresource
    return [group === MANAGEMENT_GROUP ? `${plural}/${verb}` : `reviews/${singular}`, kind] as const
  })

/** Returns the members that the kind defines. `test/lib/engine/hostile.test.ts` has those that every object has. */
function pathsOf(kind: string): string[][] {
  const schema = kinds.find((one) => one.kind === kind)?.schema
  return [...membersOf(schema?.spec, ['spec']), ...membersOf(schema?.status, ['status'])]
}

interface Case {
  fixture: (typeof stored)[number]
  path: string[]
  value: unknown
  dryRun: boolean
}

let count = 0
const query = (dryRun: boolean, more: Record<string, string> = {}) => ({
  fieldValidation: 'Ignore',
  ...(dryRun && { dryRun: 'All' }),
  ...more,
})
const as = (type: string) => ({ 'content-type': `application/${type}` })

/** The ways to write an object. Each takes the one whose member is wrong. */
const writes: Record<string, (one: Case) => Promise<Invocation & { verb: string }>> = {
  create: async (one) => ({ verb: 'create', body: hostile(one, { name: `new-${++count}` }) }),
  'create in YAML': async (one) => ({
    verb: 'create',
    body: JSON.stringify(hostile(one, { name: `new-${++count}` })),
    headers: as('yaml'),
  }),
  update: async (one) => ({ verb: 'update', body: withMember(await live(one), one.path, one.value) }),
  'update of the status': async (one) => ({
    verb: 'update',
    subresource: 'status',
    body: withMember(await live(one), one.path, one.value),
  }),
  'JSON patch': async (one) => {
    const [top = ''] = one.path
    const value = withMember(await live(one), one.path, one.value)[top]
    const operation = value === undefined ? { op: 'remove' } : { op: 'add', value }
    return { verb: 'patch', body: [{ ...operation, path: `/${top}` }], headers: as('json-patch+json') }
  },
  'merge patch': async ({ path, value }) => ({
    verb: 'patch',
    body: withMember({}, path, value ?? null),
    headers: as('merge-patch+json'),
  }),
  apply: async (one) => ({ verb: 'patch', body: hostile(one, { name: 'live' }), headers: as('apply-patch+yaml') }),
  'apply that creates': async (one) => ({
    verb: 'patch',
    body: hostile(one, { name: `new-${++count}` }),
    headers: as('apply-patch+yaml'),
  }),
}

const hostile = ({ fixture, path, value }: Case, metadata: object) =>
  withMember(objectOf(fixture, metadata, fixture.changed), path, value)

const live = async ({ fixture }: Case) => callsOf(functions, fixture).read('live')

beforeAll(async () => {
  await functions.invoke('identityproviders/create')
  for (const fixture of stored) await callsOf(functions, fixture).make({ name: 'live' })
})

async function failureOf(way: string, one: Case): Promise<string | undefined> {
  const { call, at } = callsOf(functions, one.fixture)
  const { verb, body, ...invocation } = (await writes[way]?.(one)) ?? { verb: '' }
  const name = way === 'apply that creates' ? `new-${count}` : 'live'
  const isApply = way.startsWith('apply')
  const parameters = verb === 'create' ? one.fixture.parameters : at(name)
  const more = isApply ? { fieldManager: 'tester', force: 'true' } : {}
  return failureIn(await call(verb, { ...invocation, body, parameters, query: query(one.dryRun, more) }))
}

const ways = Object.keys(writes)

describe('a wrong or missing member is never a 500', () => {
  // threat: gateway-10
  test.each(stored)('at the top of $kind', async (fixture) => {
    const failed: string[] = []
    for (const way of ways)
      for (const value of WRONG)
        for (const dryRun of [true, false]) {
          const found = await failureOf(way, { fixture, path: ['spec'], value, dryRun })
          if (found) failed.push(`${way} spec=${JSON.stringify(value)}: ${found}`)
        }
    expect(failed).toEqual([])
  })

  // threat: gateway-10
  test.each([providers, trusts, clusters])('and $kind without a spec is a 422 that names it', async (fixture) => {
    const { call } = callsOf(functions, fixture)
    const body = { ...objectOf(fixture, { name: 'without' }), spec: undefined }
    const { status, json } = await call('create', { parameters: fixture.parameters, body })
    expect([status, json.message]).toEqual([
      422,
      `${fixture.kind}.management.platform "without" is invalid: spec: Required value`,
    ])
  })

  // threat: gateway-10
  test('anywhere in a stored kind', async () => {
    const cases = fc.constantFrom(...stored).chain((fixture) =>
      fc.record({
        way: fc.constantFrom(...ways),
        fixture: fc.constant(fixture),
        path: fc.constantFrom(...pathsOf(fixture.kind)),
        value: fc.constantFrom(...WRONG),
        dryRun: fc.boolean(),
      }),
    )
    const property = fc.asyncProperty(cases, async ({ way, ...one }) => {
      expect(await failureOf(way, one)).toBeUndefined()
    })
    await fc.assert(property, runs(6000))
  })

  // threat: gateway-10
  test.skipIf(soak).each(virtual)('anywhere in a request to %s', async (name, kind) => {
    const found = kinds.find((one) => one.kind === kind)
    const base = { apiVersion: `${found?.group}/${found?.version}`, kind, metadata: {}, spec: {} }
    const cases = pathsOf(kind).flatMap((path) => WRONG.map((value) => ({ path, value })))
    const failed: string[] = []
    for (const { path, value } of cases) {
      const body = withMember(base, path, value)
      const found = failureIn(await functions.invoke(name, { body, query: query(true) }))
      if (found) failed.push(`${path.join('.')}=${JSON.stringify(value)}: ${found}`)
    }
    expect(failed).toEqual([])
  })
})
