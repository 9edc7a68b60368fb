import { describe, expect, test } from 'vitest'
import { useFunctions } from '../../support/functions.ts'
import { alice } from '../../support/users.ts'
import { describeCreate } from '../stored/create.ts'
import { callsOf, instances, objectOf, status } from '../stored/fixtures.ts'

const functions = useFunctions()
const { call } = callsOf(functions, instances)

describeCreate(functions, instances)

describe('201', () => {
  test('takes the namespace from the path', async () => {
    const { json } = await call('create', {
      parameters: { namespace: 'p-any' },
      body: objectOf(instances, { name: 'a' }),
    })
    expect(json.metadata.namespace).toBe('p-any')
  })
})

describe('400', () => {
  // An object is never stored in another namespace than its manifest says.
  test('for another namespace in the body', async () => {
    const body = objectOf(instances, { name: 'a', namespace: 'p-shop' })
    const { status: code, json } = await call('create', { parameters: { namespace: 'p-web' }, body })
    expect([code, json.message]).toEqual([
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ])
  })
})

describe('403', () => {
  // Only administrators register virtual clusters.
  test('for users who are not administrators', async () => {
    const body = objectOf(instances, { name: 'mine' })
    const { status: code, json } = await call('create', { parameters: { namespace: 'p-web' }, user: alice, body })
    expect([code, json]).toEqual([
      403,
      status(
        403,
        'Forbidden',
        'virtualclusterinstances.management.platform is forbidden: User "alice" cannot create resource "virtualclusterinstances" in API group "management.platform" in the namespace "p-web": only system:masters may create virtual cluster instances',
      ),
    ])
  })
})

describe('422', () => {
  test('for a namespace that is not a DNS label', async () => {
    const body = objectOf(instances, { name: 'a' })
    const { status: code } = await call('create', { parameters: { namespace: 'Not_One' }, body })
    expect(code).toBe(422)
  })
})
