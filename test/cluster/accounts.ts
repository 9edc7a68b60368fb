/** Prepares API servers for tokens of service accounts, with the objects that a cluster needs for them. */
import { expect } from 'vitest'
import type { ControlPlane } from '../../infra/local/kubeapiserver/controlplane.ts'
import { accountObjects } from '../../lib/clusters/connect/accounts.ts'
import type { TestServer } from '../support/server.ts'
import { management } from './keys.ts'

const PLURALS: Record<string, string> = {
  Namespace: '/api/v1/namespaces',
  ServiceAccount: 'serviceaccounts',
  Secret: 'secrets',
  Role: 'roles',
  RoleBinding: 'rolebindings',
}

/** Makes the objects, and an account that lists config maps of namespace default. Returns the token of keyplane's own account. */
export async function makeAccounts(
  { admin, url }: Pick<ControlPlane, 'admin' | 'url'>,
  account: string,
): Promise<string> {
  const post = async (path: string, object: object) => {
    const { status, body } = await admin.send('POST', `${url}${path}`, object)
    expect([path, status, status < 300 ? '' : JSON.stringify(body)]).toEqual([path, 201, ''])
    return body
  }
  for (const object of accountObjects('keyplane')) {
    const { kind, apiVersion, metadata } = object as {
      kind: string
      apiVersion: string
      metadata: { namespace?: string }
    }
    const group = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
    const plural = PLURALS[kind] ?? ''
    await post(plural.startsWith('/') ? plural : `${group}/namespaces/${metadata.namespace}/${plural}`, object)
  }
  await post('/api/v1/namespaces/keyplane/serviceaccounts', {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: account },
  })
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default'
  // No controller fills the role `view` here.
  await post(`${rbac}/roles`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'reader' },
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }],
  })
  await post(`${rbac}/rolebindings`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: account },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: 'keyplane' }],
  })
  const path = '/api/v1/namespaces/keyplane-system/serviceaccounts/keyplane/token'
  const made = (await post(path, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} })) as never
  return (made as { status: { token: string } }).status.token
}

/** Registers an API server as a cluster whose tokens are those of its service accounts. */
export async function registerAccounts(
  server: TestServer,
  name: string,
  at: { url: string; authority: string; token: string },
  access: object,
): Promise<void> {
  const data = Buffer.from(at.authority).toString('base64')
  const kubeConfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: at.url, 'certificate-authority-data': data } }],
    users: [{ name: 'u', user: { token: at.token } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  await server.services.setSecret(`keyplane/local/clusters/${name}`, JSON.stringify(kubeConfig))
  const spec = {
    server: at.url,
    certificateAuthorityData: data,
    tokens: 'ServiceAccounts',
    access: [{ verbs: ['use'], ...access }],
  }
  const object = { apiVersion: 'management.platform/v1', kind: 'Cluster', metadata: { name }, spec }
  expect((await server.post(`${management}/clusters`, object)).status).toBe(201)
}
