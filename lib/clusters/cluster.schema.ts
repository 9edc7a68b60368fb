/** Defines the fields of a connected cluster. */

import { boolean, type FromSchema, object, string } from '../engine/meta/schema/schema.ts'
import { network } from './network.schema.ts'
import { SERVICE_ACCOUNTS } from './serviceaccounts/tokens.ts'
import { serviceAccounts } from './serviceaccounts.schema.ts'
import { access } from './virtualclusterinstance.schema.ts'

export const spec = object(
  'Desired state of the connected cluster. Its name is the one that scopes and the audiences of tokens have.',
  {
    displayName: string('Name shown in the UI.'),
    description: string('Free-text description.'),
    server: string(
      'https URL of the API server, as clients reach it. Written to kubeconfigs. This service connects to it only with credentials.eks.',
      { maxLength: 2048 },
    ),
    certificateAuthorityData: string(
      'Base64-encoded PEM certificates of the certificate authorities of the API server. Written to kubeconfigs. If empty, clients trust public authorities.',
      { maxLength: 65536 },
    ),
    ...network,
    tokens: string(
      'Which tokens the kubeconfigs have. Issuer, the default: tokens of this service, which the cluster verifies. The RBAC of the cluster decides what a token may do there, within the scopes of the access key. ServiceAccounts: tokens of service accounts of the cluster, one account for each user, team or subject. The cluster needs no configuration for them, and enforces no scopes.',
      { enum: ['Issuer', SERVICE_ACCOUNTS] },
    ),
    serviceAccounts,
    credentials: object('How this service reaches the cluster. Only with tokens: ServiceAccounts.', {
      secretRef: object('Secret with a kubeconfig, to whose address this service connects.', {
        name: string('Name of the secret below the prefix of the deployment. Defaults to the name of the cluster.', {
          maxLength: 256,
          reference: true,
        }),
      }),
      eks: object(
        'Cluster of Amazon EKS, in any AWS account, that this service reaches at spec.server as the role keyplane-STAGE-clusters, without a stored credential. Not together with secretRef.',
        {
          clusterName: string('Name of the cluster in EKS. Tokens for this cluster are bound to it.', {
            maxLength: 100,
            reference: true,
          }),
          region: string('AWS region of the cluster. It determines what spec.server ends in.', { maxLength: 32 }),
        },
        { required: ['clusterName', 'region'] },
      ),
    }),
    access,
  },
  { required: ['server'] },
)

export const status = object('Observed state of the connected cluster.', {
  canUse: boolean('Whether the user who reads the cluster may create a kubeconfig for it.', { readOnly: true }),
})

export type Spec = FromSchema<typeof spec>
