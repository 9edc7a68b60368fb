/** Tests that a DELETE whose path ends in a slash deletes nothing, for every stored kind. */
import { expect, test } from 'vitest'
import { useFunctions } from '../support/functions.ts'

const functions = useFunctions()
const keys = '/kubernetes/management/apis/management.platform/v1/ownedaccesskeys'
const plurals = [
  'ownedaccesskeys',
  'virtualclusterinstances',
  'clusters',
  'identityproviders',
  'federatedidentitycredentials',
]

// threat: gateway-19
test.each(plurals.flatMap((plural) => ['delete', 'deletecollection'].map((verb) => `${plural}/${verb}`)))(
  '%s is a 400 that says how to delete a collection on purpose',
  async (name) => {
    const { status, json } = await functions.invoke(name, { path: `/kubernetes/management/${name}/`, body: null })
    expect([status, json.reason, json.message]).toEqual([
      400,
      'BadRequest',
      'the path of a DELETE may not end in a slash: name the object to delete, or leave out the slash to delete all objects of the collection',
    ])
  },
)

test('a collection of access keys is deleted without the slash, and only then', async () => {
  const made = await functions.invoke('ownedaccesskeys/create', {
    body: { metadata: { name: 'one' }, spec: { user: 'alice' } },
  })
  expect(made.status).toBe(201)
  const remove = (path: string) => functions.invoke('ownedaccesskeys/deletecollection', { path, body: null, query: {} })
  const read = async () => (await functions.invoke('ownedaccesskeys/get', { parameters: { name: 'one' } })).status
  expect([(await remove(`${keys}/`)).status, await read()]).toEqual([400, 200])
  expect([(await remove(keys)).status, await read()]).toEqual([200, 404])
})
