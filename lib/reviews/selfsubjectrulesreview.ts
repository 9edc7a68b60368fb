/** Defines SelfSubjectRulesReview, which `kubectl auth can-i --list` creates. Source: k8s.io/api authorization/v1. */

import { managementRequest } from '../access/attributes/attributes.ts'
import { badRequest } from '../engine/meta/errors/status.ts'
import { boolean, list, object, string } from '../engine/meta/schema/schema.ts'
import type { JsonObject } from '../engine/meta/types.ts'
import type { RequestContext, VirtualKind } from '../engine/registry/kind.ts'
import { message, textFields } from '../engine/registry/protobuf.ts'
import { KINDS } from '../kinds.ts'
import { resourceVerbs } from './resourceverbs.ts'
import type { ReviewServices } from './reviewservices.ts'

const names = (what: string) => list(what, string('A name; * means all.'))

const paths = [
  '/api',
  '/api/*',
  '/apis',
  '/apis/*',
  '/healthz',
  '/livez',
  '/openapi',
  '/openapi/*',
  '/readyz',
  '/version',
]

/** Returns a rule for each resource, with the verbs that are allowed, and one with those for the access key of the request. */
async function resourceRules(
  context: RequestContext,
  namespace: string,
  services: ReviewServices,
): Promise<JsonObject[]> {
  const rules: JsonObject[] = []
  for (const { kind, subresource, verbs } of resourceVerbs) {
    const { group, plural, scope } = kind
    const place = scope === 'Cluster' ? '' : namespace
    const requests = verbs.map((verb) => managementRequest(kind, { verb, subresource, namespace: place }))
    const decisions = await Promise.all(requests.map((one) => services.decide(context, one)))
    const resource = subresource ? `${plural}/${subresource}` : plural
    for (const resourceNames of [[], [context.user.key.name]]) {
      const isNamed = resourceNames.length > 0
      const allowed = verbs.filter((_, index) => {
        const decision = decisions[index]
        return decision?.allowed && (decision.self === true) === isNamed
      })
      if (allowed.length === 0) continue
      rules.push({ verbs: allowed, apiGroups: [group], resources: [resource], ...(isNamed && { resourceNames }) })
    }
  }
  return rules
}

export const SelfSubjectRulesReview: VirtualKind<ReviewServices> = {
  ...KINDS.SelfSubjectRulesReview,
  description: 'Lists the actions that the user who makes the request may perform in a namespace.',
  schema: {
    spec: object('The namespace to review.', { namespace: string('The namespace.') }),
    status: object('Result of the review.', {
      resourceRules: list(
        'Actions that are allowed on resources.',
        object('A rule.', {
          verbs: names('Verbs.'),
          apiGroups: names('API groups.'),
          resources: names('Resources.'),
          resourceNames: names('Names of objects.'),
        }),
      ),
      nonResourceRules: list(
        'Actions that are allowed on URL paths.',
        object('A rule.', { verbs: names('Verbs.'), nonResourceURLs: names('Paths.') }),
      ),
      incomplete: boolean('Whether the list of rules may be incomplete.'),
      evaluationError: string('Error that occurred during the evaluation.'),
    }),
  },
  protobuf: { 2: message('spec', textFields('namespace')) },
  async create({ object: review, context }, services) {
    const namespace = review.spec?.namespace
    if (typeof namespace !== 'string' || namespace === '') throw badRequest('no namespace on request')
    return {
      ...review,
      spec: {},
      status: {
        resourceRules: await resourceRules(context, namespace, services),
        nonResourceRules: [{ verbs: ['get'], nonResourceURLs: paths }],
        incomplete: true,
        evaluationError: 'access to single objects, such as instances shared with the user, is not listed',
      },
    }
  },
}
