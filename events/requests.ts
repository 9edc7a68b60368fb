/** The requests in the sample events: the smallest example for each kind and verb, and for each function that serves no kind. */
import { functionsOf } from '../infra/functions.ts'
import { type StoredVerb, verbs } from '../infra/routes.ts'
import { groupVersion } from '../lib/engine/meta/groupversion.ts'
import { KINDS, type KindName, type KindRow, kindRows, type StoredName } from '../lib/kinds.ts'

/** What a request says besides its route. */
export interface SampleRequest {
  /** How the path of the route ends. By default the first route of the function is taken. */
  at?: string
  parameters?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
  /** `application/json` by default. */
  accept?: string
  userAgent?: string
  /** Objects are sent as JSON, and bytes as base64. */
  body?: object | string | Buffer
  /** That of the body, `application/json` by default. */
  contentType?: string
}

/** A stored kind: an object, and a change of its spec. */
interface StoredSample {
  parameters: { name: string; namespace?: string }
  spec: object
  change: object
  labelSelector: string
  /** The requests that differ from those of other kinds. */
  others?: Partial<Record<StoredVerb, SampleRequest>>
}

export const SAMPLE_KEY = 'mpk_1fJjkkpe9PiTw9KSulA8Ghct30vZz4HpdQ5c5b9cPF11SjCEY'
const CURL = 'curl/8.14.1'
const APISERVER = 'kube-apiserver/v1.34.4'
const APPLY = 'application/apply-patch+yaml'
const FORM = 'application/x-www-form-urlencoded'
const PROTOBUF = 'application/vnd.kubernetes.protobuf'

const storedSamples: Record<StoredName, StoredSample> = {
  OwnedAccessKey: {
    parameters: { name: 'ci' },
    spec: { displayName: 'CI', user: 'alice', type: 'User', ttl: 86400, scope: { projects: [{ project: 'web' }] } },
    change: { disabled: true },
    labelSelector: 'app=ci',
  },
  FederatedIdentityCredential: {
    parameters: { name: 'shop-deploy' },
    spec: {
      displayName: 'Deployment of the shop',
      identityProvider: 'github',
      claims: [
        { claim: 'repository_id', values: ['456789'] },
        { claim: 'environment', values: ['production'] },
      ],
      scope: { projects: [{ project: 'shop' }] },
      ttl: 1800,
    },
    change: { disabled: true },
    labelSelector: 'app=shop',
  },
  IdentityProvider: {
    parameters: { name: 'github' },
    spec: {
      displayName: 'GitHub Actions',
      issuer: 'https://token.actions.githubusercontent.com',
      claims: [{ claim: 'repository_owner_id', values: ['123456'] }],
      access: [{ verbs: ['use'], teams: ['*'] }],
      maxTTL: 7200,
    },
    change: { disabled: true },
    labelSelector: 'app=shop',
  },
  VirtualClusterInstance: {
    parameters: { name: 'preview', namespace: 'p-web' },
    spec: { owner: { user: 'alice' } },
    change: {},
    labelSelector: 'tier in (preview)',
    others: {
      list: { query: { watch: 'true', resourceVersion: '1', allowWatchBookmarks: 'true', timeoutSeconds: '1' } },
      // Without a resourceVersion, the update replaces any version.
      update: {
        query: { fieldManager: 'kubectl-replace' },
        body: {
          apiVersion: 'management.platform/v1',
          kind: 'VirtualClusterInstance',
          metadata: { name: 'preview', namespace: 'p-web', labels: { tier: 'preview' } },
          spec: { owner: { user: 'alice' } },
        },
      },
      patch: {
        query: { fieldManager: 'ci', force: 'false' },
        contentType: APPLY,
        body: `apiVersion: management.platform/v1
kind: VirtualClusterInstance
metadata:
  name: preview
  namespace: p-web
  labels:
    tier: preview
`,
      },
      delete: {},
    },
  },
  Cluster: {
    parameters: { name: 'eu' },
    spec: {
      displayName: 'Europe',
      server: 'https://eu.example.com:6443',
      access: [{ verbs: ['get', 'list', 'watch', 'use'], teams: ['shop'] }],
    },
    change: { displayName: 'Europe, production' },
    labelSelector: 'app=shop',
  },
}

/** The requests of the other kinds, with the spec in the body. */
const otherSamples: Record<Exclude<KindName, StoredName>, SampleRequest & { spec?: object }> = {
  OwnedAccessKeyRotation: { spec: { overlapSeconds: 3600 } },
  OwnedAccessKeyAccessReview: {
    spec: {
      resourceAttributes: {
        verb: 'get',
        group: 'management.platform',
        resource: 'virtualclusterinstances',
        namespace: 'p-shop',
        name: 'dev',
      },
    },
  },
  OwnedAccessKeyUsage: {},
  OwnedAccessKeyHistory: {},
  AccessKeyRevocation: {
    spec: { createdBefore: '2026-01-01T00:00:00Z', unusedSince: '2026-06-01T00:00:00Z', atMost: 100 },
  },
  AccessKeyLookup: { spec: { key: SAMPLE_KEY } },
  VirtualClusterInstanceKubeConfig: { spec: { certificateTTL: 3600 } },
  ClusterKubeConfig: { spec: { ttl: 3600 } },
  DirectClusterEndpointToken: { spec: { ttl: 3600, scope: { clusters: [{ cluster: 'eu-1' }] } } },
  Self: {},
  // An empty review in the bytes that client-go sends.
  SelfSubjectReview: {
    accept: `${PROTOBUF},application/json`,
    contentType: PROTOBUF,
    body: Buffer.from('k8s\0\n-\n\x18authentication.k8s.io/v1\x12\x11SelfSubjectReview\x12\0'),
  },
  TokenReview: { userAgent: APISERVER, spec: { token: SAMPLE_KEY } },
  SelfSubjectAccessReview: {
    spec: {
      resourceAttributes: { group: 'management.platform', version: 'v1', resource: 'ownedaccesskeys', verb: 'list' },
    },
  },
  SelfSubjectRulesReview: { spec: { namespace: 'p-web' } },
  SubjectAccessReview: {
    userAgent: APISERVER,
    spec: {
      user: 'alice',
      groups: ['system:authenticated'],
      resourceAttributes: { namespace: 'web', verb: 'get', resource: 'pods', name: 'a' },
    },
  },
}

const discoveryType = (version: string) =>
  `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'p-web' } }

/** The requests of functions that serve no kind of the table of kinds. */
const others: Readonly<Record<string, SampleRequest>> = {
  'namespaces/list': {},
  'namespaces/create': { body: namespace },
  'namespaces/update': { parameters: { name: 'p-web' }, body: namespace },
  'namespaces/patch': {
    parameters: { name: 'p-web' },
    query: { fieldManager: 'kubectl' },
    contentType: APPLY,
    body: 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: p-web\n',
  },
  'customresourcedefinitions/list': {},
  discovery: { at: '/apis', accept: `${discoveryType('v2')},${discoveryType('v2beta1')},application/json` },
  openapi: { at: '/openapi/v3' },
  issuer: { userAgent: APISERVER },
  'oauth2/token': {
    userAgent: CURL,
    contentType: FORM,
    body: `${new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      client_id: 'shop-deploy@6f0c1f7e-0d6e-4c3e-9a53-1c0f7f7f4a10',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      subject_token: 'eyJhbGciOiJSUzI1NiJ9.e30.c2ln',
    })}`,
  },
  'oauth2/revoke': { userAgent: CURL, contentType: FORM, body: `token=${SAMPLE_KEY}` },
  leaks: {
    userAgent: CURL,
    body: { credentials: [SAMPLE_KEY], url: 'https://git.example.com/shop/app/blob/main/deploy.sh' },
  },
  console: {
    at: '/console/{proxy+}',
    parameters: { proxy: 'index.html' },
    accept: 'text/html',
    userAgent: 'Mozilla/5.0',
  },
  notfound: {
    at: '/{proxy+}',
    parameters: { proxy: 'kubernetes/management/apis/management.platform/v1/nothing' },
  },
}

const typeOf = (kind: KindRow) => ({ apiVersion: groupVersion(kind), kind: kind.kind })

/** Returns the requests of a stored kind, as kubectl sends them. */
function storedRequests(kind: KindRow, sample: StoredSample): Record<StoredVerb, SampleRequest> {
  const { parameters, spec, change, labelSelector, others } = sample
  const writing = (fieldManager: string) => ({ fieldManager, fieldValidation: 'Strict' })
  return {
    create: { query: writing('kubectl-create'), body: { ...typeOf(kind), metadata: parameters, spec } },
    get: {},
    list: { query: { limit: '500' }, accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' },
    update: {
      query: writing('kubectl-replace'),
      body: { ...typeOf(kind), metadata: { ...parameters, resourceVersion: '2' }, spec: { ...spec, ...change } },
    },
    patch: {
      query: { fieldManager: 'kubectl-patch' },
      contentType: 'application/merge-patch+json',
      body: { spec: change },
    },
    delete: { body: { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' } },
    deletecollection: { query: { labelSelector } },
    ...others,
  }
}

const isStored = (kind: KindName): kind is StoredName => kind in storedSamples

/** Returns the requests of a kind, in the order of its functions. A subresource is that of the sample of its kind. */
function requestsOf(row: KindRow): SampleRequest[] {
  const { kind, archetype, plural } = row
  if (isStored(kind)) {
    const sample = storedSamples[kind]
    const requests = storedRequests(row, sample)
    return verbs.map((verb) => ({ parameters: sample.parameters, ...requests[verb] }))
  }
  const [, parent] = Object.entries(storedSamples).find(([name]) => KINDS[name as StoredName].plural === plural) ?? []
  const { spec, ...request } = otherSamples[kind]
  const body = archetype === 'virtual' && { body: { ...typeOf(row), ...(spec && { spec }) } }
  return [{ ...(parent && { parameters: parent.parameters }), ...body, ...request }]
}

/** The requests by the paths of their functions below functions/. */
export const requests: ReadonlyMap<string, SampleRequest> = new Map([
  ...kindRows.flatMap((kind) => {
    const all = requestsOf(kind)
    return functionsOf(kind).map(({ path }, index) => [path, all[index] ?? {}] as const)
  }),
  ...Object.entries(others),
])
