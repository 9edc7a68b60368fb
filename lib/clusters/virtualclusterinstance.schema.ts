/** Defines the fields of a virtual cluster instance. */

import { boolean, type FromSchema, int64, list, object, string, time } from '../engine/meta/schema/schema.ts'
import { network } from './network.schema.ts'
import { SERVICE_ACCOUNTS } from './serviceaccounts/tokens.ts'
import { serviceAccounts } from './serviceaccounts.schema.ts'

const owner = object(
  'Owner of the instance, who may read it, change its unreserved fields and create its kubeconfig.',
  {
    user: string('Name of the user.'),
    team: string('Name of the team.'),
  },
)

export const access = list(
  'Access rules for other users and teams.',
  object('An access rule.', {
    verbs: list('Allowed verbs: the verbs of this API, "use" to create a kubeconfig, or * for all.', string('A verb.')),
    subresources: list(
      'Subresources that the verbs apply to. If empty, they apply to the instance itself.',
      string('A subresource.', { enum: ['kubeconfig', 'status'] }),
    ),
    users: list('Names of users.', string('A user.')),
    teams: list('Names of teams.', string('A team.')),
  }),
)

export const spec = object('Desired state of the virtual cluster instance.', {
  displayName: string('Name shown in the UI.'),
  description: string('Free-text description.'),
  owner,
  access,
  clusterRef: object('Location of the virtual cluster.', {
    cluster: string('Name of the connected cluster.'),
    namespace: string('Namespace in that cluster.'),
    virtualCluster: string('Name of the virtual cluster in that namespace.'),
  }),
  accessPoint: object('Endpoints of the virtual cluster for external clients.', {
    ingress: object('The ingress endpoint.', {
      enabled: boolean('Whether the ingress endpoint is configured.'),
      host: string('Host name, or host and port, of the ingress endpoint, without a scheme, a path or a wildcard.', {
        maxLength: 253,
      }),
    }),
  }),
  certificateAuthorityData: string(
    'Base64-encoded PEM certificates of the certificate authorities of the endpoint. Written to kubeconfigs.',
    {
      maxLength: 65536,
    },
  ),
  ...network,
  tokens: string(
    'Which tokens the kubeconfigs have. Issuer, the default: tokens of this service, which the virtual cluster verifies, or client certificates. ServiceAccounts: tokens of service accounts of the virtual cluster, one account for each user, team or subject, and nothing else. It needs no configuration for them, and enforces no scopes.',
    { enum: ['Issuer', SERVICE_ACCOUNTS] },
  ),
  serviceAccounts,
  credentialsSecretRef: object('Secret with the credentials for the virtual cluster.', {
    secretName: string(
      'Name of the secret below the prefix of the deployment. Defaults to NAMESPACE/NAME of the instance, and begins with NAMESPACE/ unless system:masters without a scope sets it.',
      { maxLength: 256, reference: true },
    ),
  }),
})

export const status = object('Observed state of the virtual cluster instance.', {
  canUse: boolean('Whether the user who reads the instance may create a kubeconfig for it.', { readOnly: true }),
  phase: string('Current phase of the instance.'),
  reason: string('One-word reason for the phase, for programs.'),
  message: string('Human-readable explanation of the phase.'),
  conditions: list(
    'Conditions of the instance.',
    object(
      'A condition.',
      {
        type: string('Type of the condition.'),
        status: string('True, False or Unknown.'),
        severity: string('Severity if the condition is not True.'),
        reason: string('One-word reason for the status, for programs.'),
        message: string('Human-readable explanation of the status.'),
        lastTransitionTime: time('Time when the status last changed.'),
        observedGeneration: int64('Generation of the instance that the condition describes.'),
      },
      { required: ['type'] },
    ),
    { listType: 'map', keys: ['type'] },
  ),
})

export type Spec = FromSchema<typeof spec>
