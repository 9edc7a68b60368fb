import { describe, expect, test } from 'vitest'
import { forbiddenInstanceChange, type InstanceSpec, mayAccess } from '../../../../lib/access/users/instances.ts'
import { alice, as, master } from '../users.ts'

const VERBS = ['create', 'get', 'list', 'watch', 'update', 'patch', 'delete', 'deletecollection', 'use']
/** Lists the allowed requests as `VERB SUBRESOURCE`. */
const all = (user: typeof alice, spec: InstanceSpec) =>
  ['', 'status', 'kubeconfig', 'constructor'].flatMap((subresource) =>
    VERBS.filter((verb) => mayAccess(user, spec, verb, subresource).allowed).map((verb) =>
      `${verb} ${subresource}`.trim(),
    ),
  )

const OWNER = [
  'get',
  'list',
  'watch',
  'update',
  'patch',
  'delete',
  'deletecollection',
  'use',
  'get status',
  'create kubeconfig',
]

describe('mayAccess', () => {
  test('allows everything to system:masters and nothing to strangers', () => {
    expect(mayAccess(master, {}, 'create', '')).toEqual({ allowed: true, reason: 'system:masters' })
    expect(all(master, {})).toHaveLength(36)
    expect(all(alice, {})).toEqual([])
    expect(
      all(alice, { owner: { user: 'bob', team: 'ops' }, access: [{ verbs: ['*'], users: ['bob'], teams: ['ops'] }] }),
    ).toEqual([])
    expect(mayAccess(alice, {}, 'get', '')).toMatchObject({
      allowed: false,
      reason: expect.stringContaining('spec.access'),
    })
  })

  test('allows an owner everything except create and status updates', () => {
    expect(all(alice, { owner: { user: 'alice' } })).toEqual(OWNER)
    expect(all(as({ user: 'bob', team: 'dev' }), { owner: { team: 'dev' } })).toEqual(OWNER)
    expect(all(alice, { owner: { team: 'dev' } })).toEqual([])
    expect(all(alice, { owner: {} })).toEqual([])
    expect(all(alice, { owner: { user: '' } })).toEqual([])
    expect(mayAccess(alice, { owner: { user: 'alice' } }, 'get', '')).toEqual({ allowed: true, reason: 'spec.owner' })
  })

  test('does not treat a subject or team with the user’s name as the owner', () => {
    expect(
      all(as({ subject: 'alice' }), { owner: { user: 'alice' }, access: [{ verbs: ['*'], users: ['alice'] }] }),
    ).toEqual([])
    expect(all(as({ team: 'x' }), { owner: { user: 'team:x' } })).toEqual([])
  })

  test('allows exactly what spec.access lists', () => {
    const access = (entry: object) => all(alice, { access: [{}, { ...entry, users: ['alice'] }] })
    expect(access({ verbs: ['get', 'create'] })).toEqual(['get'])
    expect(access({ verbs: ['get', 'create'], subresources: ['kubeconfig'] })).toEqual([
      'create kubeconfig',
      'get kubeconfig',
    ])
    expect(access({ verbs: ['use'] })).toEqual(['use', 'create kubeconfig'])
    expect(access({ verbs: ['use'], subresources: ['status'] })).toEqual(['use status'])
    expect(access({ verbs: ['use'], subresources: ['kubeconfig'] })).toEqual(['create kubeconfig', 'use kubeconfig'])
    expect(access({ verbs: ['get', 'patch'], subresources: ['status'] })).toEqual(['get status', 'patch status'])
    expect(access({ verbs: ['*'] })).toEqual(VERBS.filter((verb) => verb !== 'create'))
    expect(access({ verbs: [] })).toEqual([])
    expect(access({})).toEqual([])
  })

  test('allows access by team and names the line that granted it', () => {
    const spec = {
      access: [
        { verbs: ['get'], users: ['bob'] },
        { verbs: ['get'], teams: ['dev'] },
      ],
    }
    expect(mayAccess(as({ user: 'carol', team: 'dev' }), spec, 'get', '')).toEqual({
      allowed: true,
      reason: 'spec.access[1]',
    })
    expect(all(as({ user: 'carol' }), { access: [{ verbs: ['*'], users: ['*'], teams: ['*', ''] }] })).toEqual([])
  })
})

// threat: users-28
test('only system:masters may change who has access and where kube configs point', () => {
  const old = { owner: { user: 'alice' }, displayName: 'x' }
  for (const member of ['owner', 'access', 'accessPoint', 'certificateAuthorityData', 'credentialsSecretRef']) {
    const next = { ...old, [member]: 'other' }
    expect(forbiddenInstanceChange(alice, old, next)).toBe(`only system:masters may change spec.${member}`)
    expect(forbiddenInstanceChange(alice, next, old)).toBe(`only system:masters may change spec.${member}`)
    expect(forbiddenInstanceChange(master, old, next)).toBeUndefined()
  }
  expect(forbiddenInstanceChange(alice, old, { ...old, displayName: 'y' })).toBeUndefined()
  const specOwnedBy = (owner: object) => ({ owner })
  expect(
    forbiddenInstanceChange(alice, specOwnedBy({ user: 'a', team: 'b' }), specOwnedBy({ team: 'b', user: 'a' })),
  ).toBeUndefined()
  expect(forbiddenInstanceChange(alice, specOwnedBy({ user: 'a' }), specOwnedBy([['user', 'a']]))).toBeDefined()
})
