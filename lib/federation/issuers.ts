/**
 * Recognizes issuers by their URL. The list becomes outdated: an issuer that is not in it counts as private, and a trust must still
 * bind one of its claims.
 */
import { DAY_SECONDS } from '../engine/meta/value/durations.ts'

/** How often an ID token can be exchanged: once, or until it expires, for tokens that owners read from a file or a cache. */
export type TokenUse = 'Once' | 'Lifetime'

/** The types of issuers, each with the use of its tokens. */
export const tokenUses = {
  GitHub: 'Once',
  GitLab: 'Once',
  Buildkite: 'Once',
  CircleCI: 'Once',
  Bitbucket: 'Once',
  TerraformCloud: 'Once',
  Kubernetes: 'Lifetime',
  Azure: 'Lifetime',
  AWS: 'Once',
  Google: 'Lifetime',
  OIDC: 'Once',
} as const satisfies Record<string, TokenUse>

export type IssuerType = keyof typeof tokenUses
export const issuerTypes = Object.keys(tokenUses) as readonly IssuerType[]

/**
 * The longest lives of ID tokens, in seconds from `iat` to `exp`: a token that lives longer is a secret to be stored. Those of
 * managed identities of Azure live a day and the five minutes for clocks that differ.
 * https://learn.microsoft.com/en-us/entra/identity/managed-identities-azure-resources/managed-identity-best-practice-recommendations
 */
const longestLives: Partial<Record<IssuerType, number>> = { Azure: DAY_SECONDS + 300 }

/** Returns how long an ID token of this type may live, in seconds. */
export const longestLife = (type: IssuerType): number => longestLives[type] ?? DAY_SECONDS

/** How long an ID token of any type may live, in seconds. */
export const LONGEST_LIFE = Math.max(...issuerTypes.map(longestLife))

interface KnownIssuer {
  type: IssuerType
  /** Matches host and path. */
  issuer: RegExp
  shared: boolean
}

const known: readonly KnownIssuer[] = [
  { type: 'GitHub', issuer: /^token\.actions\.githubusercontent\.com$/, shared: true },
  { type: 'GitHub', issuer: /^token\.actions\.[a-z0-9-]+\.ghe\.com$/, shared: true },
  // An enterprise can have an issuer of its own below the shared one.
  { type: 'GitHub', issuer: /^token\.actions\.(githubusercontent|[a-z0-9-]+\.ghe)\.com\/[^/]+$/, shared: false },
  { type: 'GitHub', issuer: /^[^/]+\/_services\/token$/, shared: false },
  { type: 'GitLab', issuer: /^gitlab\.com$/, shared: true },
  { type: 'Buildkite', issuer: /^agent\.buildkite\.com$/, shared: true },
  { type: 'CircleCI', issuer: /^oidc\.circleci\.com\/org\/[^/]+$/, shared: false },
  {
    type: 'Bitbucket',
    issuer: /^api\.bitbucket\.org\/2\.0\/workspaces\/[^/]+\/pipelines-config\/identity\/oidc$/,
    shared: true,
  },
  { type: 'TerraformCloud', issuer: /^app(\.eu)?\.terraform\.io$/, shared: true },
  { type: 'Kubernetes', issuer: /^kubernetes\.default\.svc(\.cluster\.local)?$/, shared: false },
  { type: 'Kubernetes', issuer: /^oidc\.eks\.[a-z0-9-]+\.amazonaws\.(com(\.cn)?|eu)\/id\/[^/]+$/, shared: false },
  // EKS with IPv6.
  {
    type: 'Kubernetes',
    issuer: /^oidc-eks\.[a-z0-9-]+\.api\.(aws|amazonwebservices\.(com\.cn|eu))\/id\/[^/]+$/,
    shared: false,
  },
  // AKS, clusters connected with Azure Arc, and ARO: REGION.oic.…/TENANT/CLUSTER.
  {
    type: 'Kubernetes',
    issuer: /^[a-z0-9-]+\.oic\.(prod-aks|prod-arc|aro)\.azure\.(com|net|cn|us)\/[^/]+\/[^/]+$/,
    shared: false,
  },
  { type: 'Kubernetes', issuer: /^oidc\.prod-aks\.azure\.com\/[^/]+$/, shared: false },
  // ROSA.
  {
    type: 'Kubernetes',
    issuer: /^(oidc\.[a-z0-9]+\.openshiftapps\.com|rh-oidc\.s3\.[a-z0-9-]+\.amazonaws\.com)\/[^/]+$/,
    shared: false,
  },
  // ACK of Alibaba Cloud.
  {
    type: 'Kubernetes',
    issuer: /^oidc-ack-[a-z0-9-]+\.oss-[a-z0-9-]+\.aliyuncs\.com\/[^/]+$/,
    shared: false,
  },
  // OKE of Oracle Cloud.
  {
    type: 'Kubernetes',
    issuer: /^objectstorage\.[a-z0-9-]+\.(oraclecloud|oci\.customer-oci)\.com\/n\/[^/]+\/b\/oidc\/o\/[^/]+$/,
    shared: false,
  },
  // The tenants of all personal accounts, and of Microsoft Sentinel for all its customers.
  {
    type: 'Azure',
    issuer:
      /^(login\.microsoftonline\.com|sts\.windows\.net)\/(9188040d-6c67-4c5b-b112-36a304b66dad|33e01921-4d64-4f8c-a055-5bdaffd5e33d)(\/v2\.0)?$/,
    shared: true,
  },
  { type: 'Azure', issuer: /^(login\.microsoftonline\.com\/[^/]+\/v2\.0|sts\.windows\.net\/[^/]+)$/, shared: false },
  { type: 'AWS', issuer: /^[a-z0-9-]+\.tokens\.sts\.global\.api\.aws$/, shared: false },
  { type: 'Google', issuer: /^accounts\.google\.com$/, shared: true },
  { type: 'Kubernetes', issuer: /^container\.googleapis\.com\/v1\/projects\/.+$/, shared: false },
]

/**
 * Hosts of issuers that sign for all customers of a service. A trust in one of them binds `sub`.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_providers_oidc_secure-by-default.html
 */
const sharedHosts: ReadonlySet<string> = new Set([
  'api.bitbucket.org',
  'api.pulumi.com',
  'cognito-identity.amazonaws.com',
  'oidc-configuration.audit-log.githubusercontent.com',
  'oidc.circleci.com',
  'oidc.codefresh.io',
  'oidc.vercel.com',
  'proidc.upbound.io',
  'sandboxes.cloud',
  'scalr.io',
  'studio.datachain.ai',
  'tokens.cloud.shisho.dev',
  'vstoken.actions.githubusercontent.com',
])

/** Returns what is known about an issuer, or undefined. A provider of a known issuer can have no other type than the issuer's. */
export function knownIssuer(issuer: string): KnownIssuer | undefined {
  const { hostname = '', pathname = '' } = URL.parse(issuer) ?? {}
  const host = hostname.replace(/\.$/, '')
  const address = `${host}${pathname}`.replace(/\/$/, '')
  const found = known.find((one) => one.issuer.test(address))
  return found ?? (sharedHosts.has(host) ? { type: 'OIDC', issuer: /^/, shared: true } : undefined)
}
