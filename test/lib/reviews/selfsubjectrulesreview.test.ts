/** Tests that SelfSubjectRulesReview covers every resource and verb that discovery lists. */
import { expect, test } from 'vitest'
import { discoveryDocuments } from '../../../lib/engine/documents/discovery.ts'
import type { ReviewServices } from '../../../lib/reviews/reviewservices.ts'
import { SelfSubjectRulesReview } from '../../../lib/reviews/selfsubjectrulesreview.ts'
import { kinds } from '../../../lib/server/servedkinds.ts'
import { alice, contextOf } from '../../support/users.ts'

interface Rule {
  apiGroups: string[]
  resources: string[]
  verbs: string[]
}

const services = { decide: async () => ({ allowed: true, reason: '' }) } as unknown as ReviewServices

/** `GROUP/RESOURCE verb verb …` */
const line = (group: string, resource: string, verbs: readonly string[]) => `${group}/${resource} ${verbs.join(' ')}`

test('lists every verb of every resource for a user who may do everything', async () => {
  const object = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', metadata: {} }
  const request = {
    object: { ...object, spec: { namespace: 'p-a' } },
    namespace: '',
    name: '',
    context: contextOf(alice),
  }
  const { status } = await SelfSubjectRulesReview.create(request, services)
  const rules = status?.resourceRules as unknown as Rule[]
  const told = rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.map((resource) => line(group, resource, [...verbs].sort()))),
  )
  const served = [...new Set(kinds.map(({ group }) => group))].flatMap((group) => {
    const { resources } = discoveryDocuments(kinds).documents[`/apis/${group}/v1`] as unknown as {
      resources: { name: string; verbs: string[] }[]
    }
    return resources.map(({ name, verbs }) => line(group, name, [...verbs].sort()))
  })
  expect(told.sort()).toEqual(served.sort())
})
