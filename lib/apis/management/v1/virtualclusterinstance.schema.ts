/** The fields of a virtual cluster instance. */
import { boolean, type FromSchema, int64, list, object, string, time } from '../../../meta/schema/schema.ts'

const owner = object('Who owns the instance: may read it, change what is not reserved, and fetch its kube config.', {
  user: string('Name of the user.'),
  team: string('Name of the team.'),
})

const access = list(
  'Who else may do what with the instance.',
  object('An access rule.', {
    verbs: list(
      'Verbs that are allowed: those of this API, use (= create a kube config), or * for all.',
      string('A verb.'),
    ),
    subresources: list(
      'Subresources that the verbs apply to; none = the instance itself.',
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
  clusterRef: object('Where the virtual cluster runs.', {
    cluster: string('Name of the connected cluster.'),
    namespace: string('Namespace in that cluster.'),
    virtualCluster: string('Name of the virtual cluster there.'),
  }),
  accessPoint: object('How the virtual cluster is reached from outside.', {
    ingress: object('The ingress endpoint.', {
      enabled: boolean('Whether the ingress endpoint is configured.'),
      host: string('Host name, or host and port, of the ingress endpoint.', { maxLength: 253 }),
    }),
  }),
  certificateAuthorityData: string('PEM certificates, base64, that the endpoint presents; written to kube configs.', {
    maxLength: 65536,
  }),
  credentialsSecretRef: object('The secret with credentials for the virtual cluster.', {
    secretName: string(
      'Name of the secret below the prefix of the deployment; default NAMESPACE/NAME of the instance.',
      { maxLength: 256 },
    ),
  }),
})

export const status = object('Observed state of the virtual cluster instance.', {
  canUse: boolean('Whether the one who reads this may create a kube config of the instance.', { readOnly: true }),
  phase: string('Where the instance is in its life.'),
  reason: string('Why the instance is in this phase, one word.'),
  message: string('Why the instance is in this phase, for people.'),
  conditions: list(
    'Conditions of the instance.',
    object(
      'A condition.',
      {
        type: string('Type of the condition.'),
        status: string('True, False or Unknown.'),
        severity: string('How bad it is when the condition is not True.'),
        reason: string('Why, one word.'),
        message: string('Why, for people.'),
        lastTransitionTime: time('When the status changed last.'),
        observedGeneration: int64('The generation that the condition was set upon.'),
      },
      { required: ['type'] },
    ),
    { listType: 'map', keys: ['type'] },
  ),
})

export type Spec = FromSchema<typeof spec>
