/** Defines the RBAC objects of a real kube-apiserver behind the demo: the same permissions as in clusteraccess.ts. */
import { AUTHENTICATED } from '../../../lib/access/users/identity.ts'
import { CLIENT_SIGNER, CSR } from '../virtualcluster/csrobject.ts'

/** Prefix of the users of the roles' tokens. */
export const USER_PREFIX = 'keyplane:'

const REQUESTS = { apiGroups: [CSR.group], resources: [CSR.resource], verbs: ['create', 'get', 'list', 'delete'] }
const APPROVAL = { apiGroups: [CSR.group], resources: [`${CSR.resource}/approval`], verbs: ['update'] }
const SIGNER = { apiGroups: [CSR.group], resources: ['signers'], resourceNames: [CLIENT_SIGNER], verbs: ['approve'] }

/** Replaces the ClusterRole `view`, which a controller aggregates that does not run here. */
const VIEW = { apiGroups: [''], resources: ['namespaces', 'pods'], verbs: ['get', 'list', 'watch'] }

const RULES = { manager: [REQUESTS, APPROVAL, SIGNER], approver: [REQUESTS, APPROVAL], requester: [REQUESTS] }

const apiVersion = 'rbac.authorization.k8s.io/v1'
const apiGroup = 'rbac.authorization.k8s.io'

const role = (name: string, rules: readonly object[]) => ({
  resource: 'clusterroles',
  object: { apiVersion, kind: 'ClusterRole', metadata: { name }, rules },
})

/** Binds the role with the same name. */
const binding = (name: string, kind: 'User' | 'Group', subject: string) => ({
  resource: 'clusterrolebindings',
  object: {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup, kind: 'ClusterRole', name },
    subjects: [{ apiGroup, kind, name: subject }],
  },
})

/** Allows every authenticated user to view resources, as in the built-in demo. */
export const demoRoles = (): { resource: string; object: object }[] => [
  ...Object.entries(RULES).flatMap(([name, rules]) => [
    role(`${USER_PREFIX}${name}`, rules),
    binding(`${USER_PREFIX}${name}`, 'User', `${USER_PREFIX}${name}`),
  ]),
  role(`${USER_PREFIX}view`, [VIEW]),
  binding(`${USER_PREFIX}view`, 'Group', AUTHENTICATED),
]
