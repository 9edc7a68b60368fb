/**
 * Generates the files with which a stock kube-apiserver (1.34) accepts keyplane's tokens and sends their scopes to keyplane
 * for review. docs/clusters.md states the guarantees. Source: apiserver.config.k8s.io/v1,
 * k8s.io/apiserver/pkg/apis/apiserver.
 */

import type { JsonValue } from '../../engine/meta/types.ts'
import { EXTRA, PRIVATE_CLAIM } from '../token/contract.ts'

export interface ClusterFilesOptions {
  issuer: string
  /** Base URL of the API, where the cluster sends its reviews. */
  api: string
  /** The place that the cluster is, as text: `clusters/NAME` or `virtualclusters/NAMESPACE/NAME/UID`. */
  place: string
  /** Directory of the files on the control plane, without a trailing slash. */
  directory: string
  /** What happens to users of keyplane while it cannot be reached: see docs/clusters.md. */
  whenAway?: WhenAway
  /** PEM of the certificate authority of issuer and API; absent when it is public. */
  certificateAuthority?: string
}

/** `refuse` refuses them. `rbac` leaves the decision to RBAC for those whose scopes restrict nothing in this cluster. */
export const whenAway = ['refuse', 'rbac'] as const
export type WhenAway = (typeof whenAway)[number]

export interface ClusterFile {
  name: string
  content: JsonValue
}

/** How long clusters cache a review. After this time a revoked key is invalid in every cluster. */
const CACHE_TTL = '30s'

const AUTHENTICATION = 'authentication.yaml'
export const AUTHORIZATION = 'authorization.yaml'
const REVIEW_ACCESS = 'keyplane-authorization.kubeconfig'
const REVIEW_TOKEN = 'keyplane-authentication.kubeconfig'
/** Contains an access key of role agent or vcluster. Never one of the files below. */
export const ACCESS_KEY = 'keyplane-access-key'

/** The names of the files. */
export const clusterFileNames = [AUTHENTICATION, AUTHORIZATION, REVIEW_ACCESS, REVIEW_TOKEN]

/** Returns the files, with their names in `directory`. */
export function clusterFiles(options: ClusterFilesOptions): ClusterFile[] {
  const reviews = `${options.api}/apis`
  return [
    { name: AUTHENTICATION, content: authentication(options) },
    {
      name: AUTHORIZATION,
      content: {
        apiVersion: 'apiserver.config.k8s.io/v1',
        kind: 'AuthorizationConfiguration',
        authorizers: authorizers(options),
      },
    },
    { name: REVIEW_ACCESS, content: webhook(`${reviews}/authorization.k8s.io/v1/subjectaccessreviews`, options) },
    { name: REVIEW_TOKEN, content: webhook(`${reviews}/authentication.k8s.io/v1/tokenreviews`, options) },
  ]
}

/** Returns the flags of kube-apiserver that name the files. */
export const clusterFlags = ({ directory }: Pick<ClusterFilesOptions, 'directory'>): string[] => [
  `--authentication-config=${directory}/${AUTHENTICATION}`,
  `--authorization-config=${directory}/${AUTHORIZATION}`,
  `--authentication-token-webhook-config-file=${directory}/${REVIEW_TOKEN}`,
  '--authentication-token-webhook-version=v1',
  `--authentication-token-webhook-cache-ttl=${CACHE_TTL}`,
]

/** Tokens that are good in every connected cluster have an audience of their own. */
const audiencesOf = (issuer: string, place: string): string[] =>
  [place, ...(place.startsWith('clusters/') ? ['clusters/*'] : [])].map((one) => `${issuer}/${one}`)

function authentication({ issuer, place, certificateAuthority }: ClusterFilesOptions): JsonValue {
  const own = `claims['${PRIVATE_CLAIM}']`
  const extra = {
    [EXTRA.key]: `${own}.key.name`,
    [EXTRA.keyUid]: `${own}.key.uid`,
    // Tokens of the previous release have none.
    [EXTRA.run]: `has(${own}.key.run) ? ${own}.key.run : ''`,
    [EXTRA.scopes]: `${own}.scopes`,
    [EXTRA.target]: `'${place}'`,
    // CEL sees a JSON number, which may be a double: the text of a double could have an exponent.
    [EXTRA.issuedAt]: 'string(int(claims.iat))',
  }
  return {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [
      {
        issuer: {
          url: issuer,
          audiences: audiencesOf(issuer, place),
          audienceMatchPolicy: 'MatchAny',
          ...(certificateAuthority !== undefined && { certificateAuthority }),
        },
        claimValidationRules: [
          {
            // Kubernetes drops empty extras: without these values a token would appear unrestricted.
            expression: `${own}.key.name != '' && ${own}.key.uid != '' && ${own}.scopes != ''`,
            message: 'the token has no access key or no scopes',
          },
        ],
        claimMappings: {
          username: { claim: 'sub', prefix: '' },
          groups: { claim: 'groups', prefix: '' },
          extra: Object.entries(extra).map(([key, valueExpression]) => ({ key, valueExpression })),
        },
        userValidationRules: [
          {
            expression: "user.username != '' && !user.username.startsWith('system:')",
            message: 'names that begin with system: belong to Kubernetes',
          },
          {
            expression: "user.groups.all(group, !group.startsWith('system:'))",
            message: 'groups that begin with system: belong to Kubernetes',
          },
        ],
      },
    ],
  }
}

const IS_OURS = `has(request.extra) && '${EXTRA.keyUid}' in request.extra`
/** Nothing else may match: an error in a condition skips an authorizer without an opinion, and the other one then denies. */
const IS_UNRESTRICTED = `'${EXTRA.scopes}' in request.extra && request.extra['${EXTRA.scopes}'] == ['[]']`

/** Returns the authorizers in their order: keyplane denies before RBAC is asked. */
export function authorizers({
  directory,
  whenAway = 'refuse',
}: Pick<ClusterFilesOptions, 'directory' | 'whenAway'>): JsonValue[] {
  const review = (name: string, failurePolicy: 'Deny' | 'NoOpinion', ...conditions: string[]): JsonValue => ({
    type: 'Webhook',
    name,
    webhook: {
      timeout: '3s',
      subjectAccessReviewVersion: 'v1',
      matchConditionSubjectAccessReviewVersion: 'v1',
      authorizedTTL: CACHE_TTL,
      unauthorizedTTL: CACHE_TTL,
      failurePolicy,
      matchConditions: conditions.map((expression) => ({ expression })),
      connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: `${directory}/${REVIEW_ACCESS}` },
    },
  })
  return [
    // An unreachable webhook denies. The conditions limit that to keyplane's users.
    ...(whenAway === 'refuse'
      ? [review('keyplane', 'Deny', IS_OURS)]
      : [
          review('keyplane', 'Deny', IS_OURS, `!(${IS_UNRESTRICTED})`),
          review('keyplane-unrestricted', 'NoOpinion', IS_OURS, IS_UNRESTRICTED),
        ]),
    { type: 'Node', name: 'node' },
    { type: 'RBAC', name: 'rbac' },
  ]
}

function webhook(server: string, { directory, certificateAuthority }: ClusterFilesOptions): JsonValue {
  const name = 'keyplane'
  const authority = certificateAuthority && Buffer.from(certificateAuthority).toString('base64')
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, ...(authority && { 'certificate-authority-data': authority }) } }],
    users: [{ name, user: { tokenFile: `${directory}/${ACCESS_KEY}` } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  }
}
