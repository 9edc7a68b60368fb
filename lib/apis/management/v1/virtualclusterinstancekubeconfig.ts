/** Defines VirtualClusterInstanceKubeConfig, the kubeconfig of a virtual cluster. Specification sections 2.5 and 4.1. */
import { unlimitedCredential } from '../../../authorization/users/sourcecidrs.ts'
import { KINDS } from '../../../kinds/kinds.ts'
import { writtenCredential } from '../../../kubeconfig/configtext.ts'
import { toInstance } from '../../../kubeconfig/instance.ts'
import { type FieldError, invalid } from '../../../meta/errors/fielderror.ts'
import { conflict, invalidObject } from '../../../meta/errors/status.ts'
import { misplacedCredentials } from '../../../meta/schema/misplaced.ts'
import { boolean, type FromSchema, int32, list, object, string, time } from '../../../meta/schema/schema.ts'
import type { KubeObject } from '../../../meta/types.ts'
import type { VirtualKind } from '../../../registry/kind.ts'
import type { Services } from './services.ts'

const { group, kind, subresource } = KINDS.VirtualClusterInstanceKubeConfig

const spec = object('The requested kubeconfig.', {
  certificateTTL: int32(
    'Validity of the credential in seconds: at least 60 for a token, and 600 for a certificate. Defaults to one day. 0 means the longest validity that the virtual cluster allows for a certificate, or this service for a token.',
  ),
  server: string('https URL to write to the kubeconfig instead of the ingress endpoint of the virtual cluster.'),
  clientCert: boolean('Whether the kubeconfig contains a client certificate instead of a token.'),
  exec: object(
    'Command that prints an ExecCredential of client.authentication.k8s.io/v1. The kubeconfig contains this command instead of a credential, and no credential is issued. Not together with certificateTTL or clientCert.',
    {
      command: string('Name or path of the command. Clients run it without a shell.', {
        minLength: 1,
        maxLength: 4096,
      }),
      args: list(
        'Arguments of the command, which must not contain secrets.',
        string('An argument.', { maxLength: 4096 }),
        {
          maxItems: 64,
        },
      ),
    },
    { required: ['command'] },
  ),
})

const status = object('The created kubeconfig.', {
  kubeConfig: string('The kubeconfig, a YAML document of kind Config.'),
  expirationTimestamp: time('Time when the credential in the kubeconfig expires. Absent with spec.exec.'),
})

/** Validates that a name in the body matches the name in the path, as for a TokenRequest. */
function nameErrors(given: string | undefined, name: string): FieldError[] {
  if (given === undefined || given === name) return []
  return [invalid('metadata.name', given, 'must match the virtual cluster instance name if specified')]
}

/** Validates that the plugin contains no key: arguments are visible in files and process lists. */
function pluginErrors({ spec: { exec } = {}, ...rest }: KubeObject): FieldError[] {
  return exec === undefined ? [] : misplacedCredentials({ ...rest, metadata: {}, spec: { exec } })
}

/**
 * Throws 409 if the body contains another uid, because the instance was deleted and created again under the same name.
 * A resourceVersion is ignored. Source: k8s.io/kubernetes pkg/registry/core/serviceaccount/storage/token.go.
 */
function demandUid(given: string | undefined, uid: string | undefined, name: string): void {
  if (!given || given === uid) return
  const why = `the UID in the kube config request (${given}) does not match the UID of the virtual cluster instance (${uid})`
  throw conflict({ group, resource: kind }, name, why)
}

export const VirtualClusterInstanceKubeConfig: VirtualKind<Services> = {
  ...KINDS.VirtualClusterInstanceKubeConfig,
  description: 'The kubeconfig of a virtual cluster. The server returns it once and does not store it.',
  grantsAccess: true,
  schema: { spec, status },
  async create({ object: request, namespace, name, context }, services) {
    const misnamed = nameErrors(request.metadata.name, name)
    const errors = [...misnamed, ...pluginErrors(request)]
    if (errors.length > 0) throw invalidObject(group, kind, name, errors)
    const stored = await services.instance({ namespace, name }, { verb: 'create', subresource }, context)
    demandUid(request.metadata.uid, stored.object.metadata.uid, name)
    const wanted = (request.spec ?? {}) as FromSchema<typeof spec>
    const { createKubeConfig } = await import('../../../kubeconfig/kubeconfig.ts')
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
    // Check the key again: the virtual cluster may have been slow, and an issued certificate cannot be revoked.
    if (wanted.clientCert && !context.dryRun) await services.checkKeyHolds(context)
    const unlimited = wanted.exec
      ? []
      : unlimitedCredential(context.user, wanted.clientCert ? 'client certificate' : 'token')
    for (const warning of [...made.warnings, ...unlimited]) context.warn(warning)
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
  async credential(response) {
    const wanted = (response.spec ?? {}) as FromSchema<typeof spec>
    if (wanted.exec) return undefined
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
