/** Defines VirtualClusterInstanceKubeConfig, the kubeconfig of a virtual cluster. Specification sections 2.5 and 4.1. */

import type { FieldError } from '../engine/meta/errors/fielderror.ts'
import { misplacedCredentials } from '../engine/meta/schema/misplaced.ts'
import { boolean, int32, list, object, string } from '../engine/meta/schema/schema.ts'
import type { KubeObject } from '../engine/meta/types.ts'
import type { VirtualKind } from '../engine/registry/kind.ts'
import { KINDS } from '../kinds.ts'
import { kubeConfigOf } from './kubeconfigs.ts'
import type { ClusterServices } from './services.ts'
import { VirtualClusterInstance } from './virtualclusterinstance.ts'

const spec = object('The requested kubeconfig.', {
  certificateTTL: int32(
    'Validity of the credential in seconds: at least 60 for a token, and 600 for a certificate or a token of a service account. Defaults to one day. 0 means the longest validity that the virtual cluster allows for a certificate, or this service for a token.',
  ),
  server: string('https URL to write to the kubeconfig instead of the ingress endpoint of the virtual cluster.'),
  clientCert: boolean(
    'Whether the kubeconfig contains a client certificate instead of a token. Not if service accounts issue the tokens of the virtual cluster.',
  ),
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

/** Validates that the plugin contains no key: arguments are visible in files and process lists. */
function pluginErrors({ spec: { exec } = {}, ...rest }: KubeObject): FieldError[] {
  return exec === undefined ? [] : misplacedCredentials({ ...rest, metadata: {}, spec: { exec } })
}

export const VirtualClusterInstanceKubeConfig: VirtualKind<ClusterServices> = kubeConfigOf(VirtualClusterInstance, {
  ...KINDS.VirtualClusterInstanceKubeConfig,
  description: 'The kubeconfig of a virtual cluster. The server returns it once and does not store it.',
  type: 'virtualCluster',
  noun: 'virtual cluster instance',
  spec,
  validate: pluginErrors,
})
