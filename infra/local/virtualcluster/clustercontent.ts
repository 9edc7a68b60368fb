/** Defines the content of the demo virtual cluster: discovery, version, a namespace and two pods. */
import { rfc3339 } from '../../../lib/engine/meta/encoding/time.ts'

export interface View {
  kind: 'Namespace' | 'Pod'
  columns: readonly string[]
  objects: readonly Shown[]
}

interface Shown {
  object: Readonly<Record<string, unknown>> & { metadata: { name: string; namespace?: string } }
  cells: readonly (string | number)[]
}

export const VERSION = {
  major: '1',
  minor: '34',
  gitVersion: 'v1.34.4+keyplane-demo',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '2026-01-01T00:00:00Z',
  goVersion: '',
  compiler: 'node',
  platform: `${process.platform}/${process.arch}`,
}

const GROUPS = ['authentication.k8s.io', 'certificates.k8s.io'].map((name) => {
  const version = { groupVersion: `${name}/v1`, version: 'v1' }
  return { name, versions: [version], preferredVersion: version }
})

const resource = (name: string, singularName: string, namespaced: boolean, kind: string, ...verbs: string[]) => ({
  name,
  singularName,
  namespaced,
  kind,
  verbs,
})
const resources = (groupVersion: string, list: readonly object[]) => ({
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion,
  resources: list,
})

/** Discovery documents by path. */
export const DISCOVERY: ReadonlyMap<string, object> = new Map<string, object>([
  ['/api', { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] }],
  ['/apis', { kind: 'APIGroupList', apiVersion: 'v1', groups: GROUPS }],
  ...GROUPS.map((group) => [`/apis/${group.name}`, { kind: 'APIGroup', apiVersion: 'v1', ...group }] as const),
  [
    '/api/v1',
    resources('v1', [
      { ...resource('namespaces', 'namespace', false, 'Namespace', 'get', 'list'), shortNames: ['ns'] },
      { ...resource('pods', 'pod', true, 'Pod', 'get', 'list'), shortNames: ['po'], categories: ['all'] },
    ]),
  ],
  [
    '/apis/authentication.k8s.io/v1',
    resources('authentication.k8s.io/v1', [
      resource('selfsubjectreviews', 'selfsubjectreview', false, 'SelfSubjectReview', 'create'),
    ]),
  ],
  [
    '/apis/certificates.k8s.io/v1',
    resources('certificates.k8s.io/v1', [
      {
        ...resource(
          'certificatesigningrequests',
          'certificatesigningrequest',
          false,
          'CertificateSigningRequest',
          ...['create', 'delete', 'get', 'list'],
        ),
        shortNames: ['csr'],
      },
      resource('certificatesigningrequests/approval', '', false, 'CertificateSigningRequest', 'update'),
    ]),
  ],
])

const AGE = 'Age'

/** All objects were created when the cluster started. */
export function createViews(started: number, uid: () => string): ReadonlyMap<string, View> {
  const creationTimestamp = rfc3339(new Date(started))
  const metadata = (name: string, namespace?: string) => ({
    name,
    ...(namespace !== undefined && { namespace }),
    uid: uid(),
    resourceVersion: '1',
    creationTimestamp,
  })
  const namespace = (name: string): Shown => ({
    object: { apiVersion: 'v1', kind: 'Namespace', metadata: metadata(name), status: { phase: 'Active' } },
    cells: [name, 'Active'],
  })
  const pod = (name: string): Shown => ({
    object: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: metadata(name, 'default'),
      spec: { containers: [{ name: 'main', image: 'example.com/demo:1' }] },
      status: { phase: 'Running' },
    },
    cells: [name, '1/1', 'Running', 0],
  })
  return new Map<string, View>([
    ['namespaces', { kind: 'Namespace', columns: ['Name', 'Status', AGE], objects: [namespace('default')] }],
    [
      'pods',
      {
        kind: 'Pod',
        columns: ['Name', 'Ready', 'Status', 'Restarts', AGE],
        objects: [pod('hello-0'), pod('hello-1')],
      },
    ],
  ])
}

export const listOfView = ({ kind, objects }: View) => ({
  kind: `${kind}List`,
  apiVersion: 'v1',
  metadata: { resourceVersion: '1' },
  items: objects.map(({ object }) => object),
})

/** Returns a meta.k8s.io/v1 Table. `age` is the uptime of the cluster in kubectl's format. */
export const tableOfView = ({ columns, objects }: View, age: string) => ({
  kind: 'Table',
  apiVersion: 'meta.k8s.io/v1',
  metadata: { resourceVersion: '1' },
  columnDefinitions: columns.map((name) => ({
    name,
    type: name === 'Restarts' ? 'integer' : 'string',
    format: name === 'Name' ? 'name' : '',
    description: name,
    priority: 0,
  })),
  rows: objects.map(({ object, cells }) => ({
    cells: [...cells, age],
    object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata },
  })),
})
