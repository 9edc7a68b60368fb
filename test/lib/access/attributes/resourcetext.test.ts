import { describe, expect, test } from 'vitest'
import { managementResource, readResource } from '../../../../lib/access/attributes/resourcetext.ts'
import cases from './vectors/resourcetext.cases.json' with { type: 'json' }

describe('readResource', () => {
  test.each(cases.read as [string, object][])('reads %s', (text, parts) => expect(readResource(text)).toEqual(parts))

  test.each(['', '.apps', '/metrics', 'pods/web-0/log'])('returns undefined for "%s"', (text) =>
    expect(readResource(text)).toBeUndefined(),
  )
})

describe('managementResource', () => {
  const resources = [
    { name: 'virtualclusterinstances', singularName: 'virtualclusterinstance', shortNames: ['vci'] },
    { name: 'virtualclusterinstances/kubeconfig', singularName: '' },
  ]
  const found = (word: string) => managementResource(word, 'g', resources)

  test.each(['virtualclusterinstances', 'VirtualClusterInstance', 'vci'])('finds %s', (word) =>
    expect(found(word)).toEqual({ resource: 'virtualclusterinstances', group: 'g' }),
  )

  test('knows namespaces and the wildcard', () =>
    expect([found('namespaces'), found('Namespace'), found('ns'), found('*')]).toEqual([
      ...Array(3).fill({ resource: 'namespaces', group: '' }),
      { resource: '*', group: 'g' },
    ]))

  test.each(['pods', 'virtualclusterinstances/kubeconfig', ''])('returns undefined for "%s"', (word) =>
    expect(found(word)).toBeUndefined(),
  )
})
