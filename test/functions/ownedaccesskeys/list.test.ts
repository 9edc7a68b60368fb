import { describe, expect, test } from 'vitest'
import { useFunctions } from '../../support/functions.ts'
import { admin, alice, bob, userNamed, withScopes } from '../../support/users.ts'
import { accessKeys, callsOf } from '../stored/fixtures.ts'
import { describeList } from '../stored/list.ts'

const functions = useFunctions()
const { call, make } = callsOf(functions, accessKeys)

describeList(functions, accessKeys)

describe('200', () => {
  // Users see only their own keys in lists.
  test('lists the keys of the user and of their teams', async () => {
    await make({ name: 'own-alice', labels: { own: 'yes' } }, { user: 'alice' })
    await make({ name: 'own-bob', labels: { own: 'yes' } }, { user: 'bob' })
    await make({ name: 'own-team', labels: { own: 'yes' } }, { team: 'ops' })
    await make({ name: 'own-robot', labels: { own: 'yes' } }, { subject: 'alice' })
    const names = async (user: typeof alice) => {
      const { json } = await call('list', { user, query: { labelSelector: 'own' } })
      return json.items.map((item: { metadata: { name: string } }) => item.metadata.name)
    }
    expect(await names(alice)).toEqual(['own-alice'])
    expect(await names(bob)).toEqual(['own-bob'])
    expect(await names(userNamed('bob', ['team:ops']))).toEqual(['own-bob', 'own-team'])
    expect(await names(admin)).toHaveLength(4)
    // A role for the command line restricts even an administrator to their own keys.
    expect(await names(withScopes(admin, { roles: [{ role: 'platformCLI' }] }))).toEqual([])
  })

  // A count would reveal hidden objects.
  test('excludes hidden objects from remainingItemCount', async () => {
    await make({ name: 'count-alice' }, { user: 'alice' })
    const { json } = await call('list', { user: bob, query: { limit: '1' } })
    expect(json.metadata.remainingItemCount ?? 0).toBe(0)
  })

  test('supports field selectors', async () => {
    await make({ name: 'field', labels: { field: 'yes' } }, { user: 'alice', type: 'Other', disabled: true })
    const { json } = await call('list', {
      query: { fieldSelector: 'spec.user=alice,spec.type=Other,spec.disabled=true,spec.team=' },
    })
    expect(json.items).toHaveLength(1)
  })
})
