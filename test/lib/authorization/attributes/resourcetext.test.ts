import { describe, expect, test } from 'vitest'
import { managementResource, readResource } from '../../../../lib/authorization/attributes/resourcetext.ts'

describe('readResource', () => {
  test.each([
    ['pods', { resource: 'pods' }],
    ['deployments.apps', { resource: 'deployments', group: 'apps' }],
    ['ownedaccesskeys.management.platform', { resource: 'ownedaccesskeys', group: 'management.platform' }],
    ['pods/web-0', { resource: 'pods', part: 'web-0' }],
    ['deployments.apps/web.v2', { resource: 'deployments', group: 'apps', part: 'web.v2' }],
    ['pods/', { resource: 'pods' }],
    ['pods.', { resource: 'pods', group: '' }],
    ['*', { resource: '*' }],
  ])('reads %s', (text, parts) => {
    expect(readResource(text)).toEqual(parts)
  })

  test.each(['', '.apps', '/metrics', 'pods/web-0/log'])('returns undefined for "%s"', (text) => {
    expect(readResource(text)).toBeUndefined()
  })
})

describe('managementResource', () => {
  const resources = [
    { name: 'virtualclusterinstances', singularName: 'virtualclusterinstance', shortNames: ['vci'] },
    { name: 'virtualclusterinstances/kubeconfig', singularName: '' },
  ]
  const found = (word: string) => managementResource(word, 'g', resources)

  test.each(['virtualclusterinstances', 'VirtualClusterInstance', 'vci'])('finds %s', (word) => {
    expect(found(word)).toEqual({ resource: 'virtualclusterinstances', group: 'g' })
  })

  test('knows namespaces and the wildcard', () => {
    expect([found('namespaces'), found('*')]).toEqual([
      { resource: 'namespaces', group: '' },
      { resource: '*', group: 'g' },
    ])
  })

  test.each(['pods', 'virtualclusterinstances/kubeconfig', ''])('returns undefined for "%s"', (word) => {
    expect(found(word)).toBeUndefined()
  })
})
