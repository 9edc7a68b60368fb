/** Tests that no write points an instance at the credentials of an instance in another project. */
import { beforeAll, describe, expect, test } from 'vitest'
import { accessKey, instance, instances, keys } from '../support/objects.ts'
import type { Call } from '../support/request.ts'
import { useServer } from '../support/sharedserver.ts'

const server = useServer()
const own = instances('p-evil')
const stolen = { credentialsSecretRef: { secretName: 'p-victim/vc' } }
const patchOne = {
  rules: [
    {
      verbs: ['patch'],
      namespaces: ['p-evil'],
      resources: [{ group: 'management.platform', resources: ['virtualclusterinstances'], resourceNames: ['mine'] }],
    },
  ],
}

const held: Record<string, string> = {}
beforeAll(async () => {
  await server.make(own, instance('mine', { owner: { user: 'mallory' } }))
  await server.make(own, instance('lent', stolen))
  for (const [name, scope] of Object.entries({ project: { projects: [{ project: 'evil' }] }, patcher: patchOne })) {
    const spec = { user: 'mallory', groups: ['system:masters'], scope }
    held[name] = (await server.make(keys, accessKey(name, spec))).spec.key
  }
})

const patched = (type: string, body: unknown): Call => ({
  method: 'PATCH',
  headers: { 'content-type': `application/${type}` },
  body,
})
const field = '/spec/credentialsSecretRef'

const attacks: [name: string, path: string, call: () => Call | Promise<Call>][] = [
  ['create', own, () => ({ method: 'POST', body: instance('new', stolen) })],
  [
    'create of a generated name',
    own,
    () => ({ method: 'POST', body: { ...instance('', stolen), metadata: { generateName: 'new-' } } }),
  ],
  [
    'update',
    `${own}/mine`,
    async () => ({ method: 'PUT', body: { ...(await server.call(`${own}/mine`)).json, spec: stolen } }),
  ],
  ['merge patch', `${own}/mine`, () => patched('merge-patch+json', { spec: stolen })],
  [
    'JSON patch',
    `${own}/mine`,
    () => patched('json-patch+json', [{ op: 'add', path: field, value: stolen.credentialsSecretRef }]),
  ],
  ['apply', `${own}/mine?fieldManager=a&force=true`, () => patched('apply-patch+yaml', instance('mine', stolen))],
  ['apply that creates', `${own}/new?fieldManager=a`, () => patched('apply-patch+yaml', instance('new', stolen))],
]

describe.each(['project', 'patcher'])('an administrator’s key with a scope (%s)', (holder) => {
  // threat: users-27
  test.each(attacks)('is refused by %s, in dry runs too', async (_, path, call) => {
    for (const query of ['', 'dryRun=All']) {
      const to = query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`
      const { status } = await server.call(to, { ...(await call()), token: held[holder] ?? '' })
      expect([holder === 'project' ? 422 : 403, 422]).toContain(status)
    }
    const { items } = (await server.call(own)).json
    const pointing = items.filter(({ spec }: { spec: object }) => 'credentialsSecretRef' in spec)
    expect(pointing.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual(['lent'])
  })
})

test('writes back what it has read, with a reference that an administrator has set, but does not set it again', async () => {
  const token = held.project ?? ''
  const { json } = await server.call(`${own}/lent`, { token })
  const again = { ...json, spec: { ...json.spec, displayName: 'Lent' } }
  expect((await server.call(`${own}/lent`, { method: 'PUT', token, body: again })).status).toBe(200)
  const remove = patched('json-patch+json', [{ op: 'remove', path: field }])
  expect((await server.call(`${own}/lent`, { ...remove, token })).status).toBe(200)
  const set = await server.call(`${own}/lent`, { ...patched('merge-patch+json', { spec: stolen }), token })
  expect([set.status, set.json.details.causes]).toEqual([
    422,
    [
      {
        reason: 'FieldValueInvalid',
        field: 'spec.credentialsSecretRef.secretName',
        message:
          'Invalid value: "p-victim/vc": must begin with "p-evil/", unless system:masters without a scope sets it',
      },
    ],
  ])
})
