/** VirtualClusterInstanceKubeConfig: the kube config of a virtual cluster. Specification sections 2.5 and 4.1. */
import { toInstance } from '../../../kubeconfig/instance.ts'
import { createKubeConfig } from '../../../kubeconfig/kubeconfig.ts'
import { type FieldError, invalid } from '../../../meta/errors/fielderror.ts'
import { conflict, invalidObject } from '../../../meta/errors/status.ts'
import { boolean, type FromSchema, int32, object, string, time } from '../../../meta/schema/schema.ts'
import type { VirtualKind } from '../../../registry/kind.ts'
import { group, version } from './group.ts'
import type { Services } from './services.ts'

const kind = 'VirtualClusterInstanceKubeConfig'

const spec = object('What kube config is wanted.', {
  certificateTTL: int32(
    'Seconds of validity of the credential in the kube config. Absent = one day; 0 = as long as the virtual cluster (for a token: this service) allows.',
  ),
  server: string('Address of the virtual cluster to write instead of its ingress endpoint: an https URL.'),
  clientCert: boolean('Whether the kube config holds a generated client certificate instead of a token.'),
})

/** A name in the body must be the one of the path, as for a TokenRequest. */
function nameErrors(given: string | undefined, name: string): FieldError[] {
  if (given === undefined || given === name) return []
  return [invalid('metadata.name', given, 'must match the virtual cluster instance name if specified')]
}

/**
 * Throws 409 where the body says the uid of another instance: one that was deleted, and made again under its name.
 * Source: k8s.io/kubernetes pkg/registry/core/serviceaccount/storage/token.go. A resourceVersion says nothing there.
 */
function demandUid(given: string | undefined, uid: string | undefined, name: string): void {
  if (!given || given === uid) return
  const why = `the UID in the kube config request (${given}) does not match the UID of the virtual cluster instance (${uid})`
  throw conflict({ group, resource: kind }, name, why)
}

export const VirtualClusterInstanceKubeConfig: VirtualKind<Services> = {
  archetype: 'virtual',
  group,
  version,
  kind,
  plural: 'virtualclusterinstances',
  singular: 'virtualclusterinstance',
  subresource: 'kubeconfig',
  scope: 'Namespaced',
  description: 'The kube config of a virtual cluster. Answers a create and is stored nowhere.',
  grantsAccess: true,
  schema: {
    spec,
    status: object('The kube config.', {
      kubeConfig: string('The kube config, a YAML document of kind Config.'),
      expirationTimestamp: time('When the credential in the kube config expires.'),
    }),
  },
  async create({ object: request, namespace, name, context }, services) {
    const misnamed = nameErrors(request.metadata.name, name)
    if (misnamed.length > 0) throw invalidObject(group, kind, name, misnamed)
    const stored = await services.instance({ namespace, name }, { verb: 'create', subresource: 'kubeconfig' }, context)
    demandUid(request.metadata.uid, stored.object.metadata.uid, name)
    const wanted = (request.spec ?? {}) as FromSchema<typeof spec>
    const made = await createKubeConfig(
      {
        instance: toInstance(stored.object),
        spec: wanted,
        user: context.user,
        now: context.now,
        dryRun: context.dryRun,
        deadline: context.deadline,
      },
      services.kubeConfigs,
    )
    if ('errors' in made) throw invalidObject(group, kind, name, made.errors)
    // The virtual cluster may have taken long, and nothing ends a certificate that is handed out.
    if (wanted.clientCert && !context.dryRun) await services.demandKey(context)
    for (const warning of made.warnings) context.warn(warning)
    for (const [name, fact] of Object.entries(made.facts)) context.note(name, fact)
    const { uid } = stored.object.metadata
    const { kubeConfig, expirationTimestamp } = made
    if (uid !== undefined) context.note('uid', uid)
    if (expirationTimestamp !== undefined) context.note('expires', expirationTimestamp)
    return {
      ...request,
      metadata: { ...request.metadata, name, namespace, ...(uid && { uid }) },
      status: { ...(kubeConfig && { kubeConfig }), ...(expirationTimestamp && { expirationTimestamp }) },
    }
  },
}
