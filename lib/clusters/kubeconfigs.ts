/** Makes the kinds of kubeconfigs: subresources of what clients connect to. They differ in their spec and in their parent. */
import { timeOfIssue } from '../access/users/ends.ts'
import { unlimitedCredential } from '../access/users/sourcecidrs.ts'
import { type FieldError, invalid } from '../engine/meta/errors/fielderror.ts'
import { conflict, invalidObject } from '../engine/meta/errors/status.ts'
import { type FromSchema, type ObjectSchema, object, string, time } from '../engine/meta/schema/schema.ts'
import type { KubeObject } from '../engine/meta/types.ts'
import type { StoredKind, VirtualKind } from '../engine/registry/kind.ts'
import { getObject } from '../engine/registry/read.ts'
import type { KindRow } from '../kinds.ts'
import { writtenCredential } from './configtext.ts'
import { createKubeConfig } from './kubeconfig.ts'
import { type ParentRequest, parentOf } from './parent.ts'
import type { ClusterServices } from './services.ts'

interface Definition extends KindRow {
  subresource: string
  description: string
  /** What the parent is, and how messages name it. */
  type: ParentRequest['type']
  noun: string
  spec: ObjectSchema
  /** Validates the request beyond its schema. */
  validate?(request: KubeObject): FieldError[]
}

const status = object('The created kubeconfig.', {
  kubeConfig: string('The kubeconfig, a YAML document of kind Config.'),
  expirationTimestamp: time('Time when the credential in the kubeconfig expires. Absent if it contains none.'),
})

/** Says which credential a kubeconfig contains, where warnings name it. */
const NOUNS = { token: 'token', certificate: 'client certificate' } as const

/** Returns the kind of the kubeconfigs of a stored kind. */
export function kubeConfigOf<I>(
  parentKind: StoredKind<ClusterServices, I>,
  { type, noun, spec, validate, ...row }: Definition,
): VirtualKind<ClusterServices> {
  const { group, kind, subresource } = row

  /** Validates that a name in the body matches the name in the path, as for a TokenRequest. */
  function nameErrors(given: string | undefined, name: string): FieldError[] {
    if (given === undefined || given === name) return []
    return [invalid('metadata.name', given, `must match the ${noun} name if specified`)]
  }

  /**
   * Throws 409 if the body contains another uid, because the parent was deleted and created again under the same name.
   * A resourceVersion is ignored. Source: k8s.io/kubernetes pkg/registry/core/serviceaccount/storage/token.go.
   */
  function demandUid(given: string | undefined, uid: string | undefined, name: string): void {
    if (!given || given === uid) return
    const why = `the UID in the kube config request (${given}) does not match the UID of the ${noun} (${uid})`
    throw conflict({ group, resource: kind }, name, why)
  }

  return {
    ...row,
    archetype: 'virtual',
    grantsAccess: true,
    schema: { spec, status },
    async create({ object: request, namespace, name, context }, services) {
      const errors = [...nameErrors(request.metadata.name, name), ...(validate?.(request) ?? [])]
      if (errors.length > 0) throw invalidObject(group, kind, name, errors)
      const use = { namespace, name, verb: 'create', subresource }
      const { object } = await getObject(services.storeOf(parentKind), use, context)
      const { uid } = object.metadata
      demandUid(request.metadata.uid, uid, name)
      const { user, dryRun, deadline } = context
      const now = dryRun ? context.now : await timeOfIssue(user.key.lastEnd, context.now, services.sleep)
      const wanted = (request.spec ?? {}) as ParentRequest['spec']
      const parent = parentOf({ type, object, spec: wanted, user, now, deadline }, services)
      const made = await createKubeConfig(parent, { user, issuer: services.kubeConfigs.issuer, dryRun })
      if ('errors' in made) throw invalidObject(group, kind, name, made.errors)
      const { kubeConfig, expirationTimestamp, warnings, facts } = made
      const { credential } = facts
      // Check the key again: the cluster may have been slow, and an issued certificate cannot be revoked.
      if (credential === 'certificate' && !dryRun) await services.checkKeyHolds(context)
      const unlimited = credential === 'none' ? [] : unlimitedCredential(user, NOUNS[credential])
      for (const warning of [...warnings, ...unlimited]) context.warn(warning)
      for (const [name, fact] of Object.entries(facts)) context.note(name, fact)
      if (uid !== undefined) context.note('uid', uid)
      if (expirationTimestamp !== undefined) context.note('expires', expirationTimestamp)
      return {
        ...request,
        metadata: { ...request.metadata, name, ...(namespace && { namespace }), ...(uid && { uid }) },
        status: { ...(kubeConfig && { kubeConfig }), ...(expirationTimestamp && { expirationTimestamp }) },
      }
    },
    async credential(response) {
      if (response.spec?.exec) return undefined
      const { kubeConfig, expirationTimestamp } = (response.status ?? {}) as FromSchema<typeof status>
      if (kubeConfig === undefined) return {}
      const user = await writtenCredential(kubeConfig)
      return {
        ...(expirationTimestamp && { expirationTimestamp }),
        ...('token' in user
          ? { token: user.token }
          : { clientCertificateData: user.certificate, clientKeyData: user.key }),
      }
    },
  }
}
