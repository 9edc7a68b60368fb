/** Makes the objects that let keyplane issue tokens of service accounts in a cluster (docs/clusters.md). */
import type { JsonObject } from '../../engine/meta/types.ts'

/** The name of keyplane's account, its role and its token. */
const NAME = 'keyplane'

/**
 * Returns the objects. In `namespace` are only accounts of users and what keyplane makes. Keyplane's own account is in another one, so
 * that it cannot issue a token of itself. It can read no Secret. With a group, keyplane has no account: whoever is in the group has its role.
 */
export function accountObjects(namespace: string, group?: string): JsonObject[] {
  const own = `${namespace}-system`
  const labels = { 'app.kubernetes.io/part-of': 'keyplane' }
  const core = (kind: string, metadata: JsonObject, more: JsonObject = {}): JsonObject => ({
    apiVersion: 'v1',
    kind,
    metadata: { ...metadata, labels },
    ...more,
  })
  const rbac = (kind: string, more: JsonObject): JsonObject => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind,
    metadata: { name: NAME, namespace, labels },
    ...more,
  })
  const account = [
    core('Namespace', { name: own }),
    core('ServiceAccount', { name: NAME, namespace: own }, { automountServiceAccountToken: false }),
    core(
      'Secret',
      { name: NAME, namespace: own, annotations: { 'kubernetes.io/service-account.name': NAME } },
      { type: 'kubernetes.io/service-account-token' },
    ),
  ]
  const subject: JsonObject =
    group === undefined
      ? { kind: 'ServiceAccount', name: NAME, namespace: own }
      : { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }
  return [
    core('Namespace', { name: namespace }),
    ...(group === undefined ? account : []),
    rbac('Role', {
      rules: [
        { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
        { apiGroups: [''], resources: ['secrets'], verbs: ['create', 'delete'] },
      ],
    }),
    rbac('RoleBinding', {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: NAME },
      subjects: [subject],
    }),
  ]
}
