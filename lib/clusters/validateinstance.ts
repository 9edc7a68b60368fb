/**
 * Validates what the kube configs of instances and of clusters are made of, so that what can never work is refused when it is written, not when
 * somebody needs it.
 */
import { type FieldError, forbidden, invalid, required } from '../engine/meta/errors/fielderror.ts'
import { dnsLabelErrors } from '../engine/meta/object/names.ts'
import type { KubeObject } from '../engine/meta/types.ts'
import { isProxyUrl, isTlsServerName, type Network } from './cluster/network.ts'
import { fromBase64, hasOtherBlocks, parseCertificates } from './cluster/pem.ts'
import { isServerUrl } from './cluster/serverurl.ts'
import { eksDomains, isEksServer } from './eks/reference.ts'
import { ingressUrl, SERVER_RULE, toInstance, withoutPassword } from './instance.ts'
import { secretName } from './secretname.ts'
import { SERVICE_ACCOUNTS } from './serviceaccounts/tokens.ts'

/** Returns the 422 errors for an instance. On updates, only what has changed is judged: `old` may be of an earlier release. */
export function validateInstance(object: KubeObject, old?: KubeObject): FieldError[] {
  const [next, before] = [toInstance(object), old && toInstance(old)]
  const changed = (member: 'host' | 'certificateAuthorityData' | 'secretReference') =>
    next[member] === before?.[member] ? undefined : next[member]
  return [
    ...validateHost(changed('host')),
    ...validateAuthority(changed('certificateAuthorityData')),
    ...validateNetwork(next, before),
    ...validateSecret(changed('secretReference')),
    ...validateAccounts((object.spec ?? {}) as ClusterSpec, (old?.spec ?? {}) as ClusterSpec),
  ]
}

/** Returns the 422 errors for the spec of a connected cluster, of what has changed. */
export function validateCluster(next: ClusterSpec, before: ClusterSpec = {}): FieldError[] {
  const { server, certificateAuthorityData: authority } = next
  return [
    ...(server === undefined || server === before.server || isServerUrl(server)
      ? []
      : [invalid('spec.server', withoutPassword(server), SERVER_RULE)]),
    ...validateAuthority(authority === before.certificateAuthorityData ? undefined : authority || undefined),
    ...validateNetwork(next, before),
    ...validateAccounts(next, before),
    ...validateEksAddress(next),
  ]
}

/** What service accounts need, and nothing of it without them: a cluster that verifies tokens must not look as if it was reached. */
function validateAccounts({ tokens, serviceAccounts, credentials }: ClusterSpec, before: ClusterSpec): FieldError[] {
  if (tokens !== SERVICE_ACCOUNTS) {
    const why = `may only be set together with spec.tokens: ${SERVICE_ACCOUNTS}`
    return [
      ...(serviceAccounts === undefined ? [] : [forbidden('spec.serviceAccounts', why)]),
      ...(credentials === undefined ? [] : [forbidden('spec.credentials', why)]),
    ]
  }
  const { namespace = '' } = serviceAccounts ?? {}
  const { name = '' } = credentials?.secretRef ?? {}
  const secret = name === '' ? '' : secretName('', name, 'spec.credentials.secretRef.name')
  return [
    ...(namespace === '' || namespace === before.serviceAccounts?.namespace
      ? []
      : [...dnsLabelErrors(namespace), ...(namespace.startsWith('kube-') ? ['must not begin with "kube-"'] : [])].map(
          (text) => invalid('spec.serviceAccounts.namespace', namespace, text),
        )),
    ...(typeof secret === 'string' ? [] : [secret.error]),
    ...validateEks(credentials),
  ]
}

const REGION = /^[a-z]{2,4}(-[a-z]+)+-[0-9]+$/

/** Both texts become part of addresses of AWS. */
function validateEks({ eks, secretRef }: NonNullable<ClusterSpec['credentials']> = {}): FieldError[] {
  if (!eks) return []
  const { clusterName = '', region = '' } = eks
  return [
    ...(secretRef
      ? [forbidden('spec.credentials.secretRef', 'may not be set together with spec.credentials.eks')]
      : []),
    ...(/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(clusterName)
      ? []
      : [invalid('spec.credentials.eks.clusterName', clusterName, 'must be the name of a cluster in Amazon EKS')]),
    ...(REGION.test(region)
      ? []
      : [invalid('spec.credentials.eks.region', region, 'must be an AWS region, such as eu-central-1')]),
  ]
}

/**
 * The bearer token for a cluster of EKS is good at every cluster of its name. So it is sent to what EKS has signed a name for, and to nothing
 * else.
 */
function validateEksAddress({
  server = '',
  certificateAuthorityData = '',
  tokens,
  credentials,
}: ClusterSpec): FieldError[] {
  const { region = '' } = credentials?.eks ?? {}
  if (!credentials?.eks || tokens !== SERVICE_ACCOUNTS || !REGION.test(region)) return []
  return [
    ...(isEksServer(server, region)
      ? []
      : [
          invalid(
            'spec.server',
            withoutPassword(server),
            `must end in ${eksDomains(region).join(' or ')} with spec.credentials.eks`,
          ),
        ]),
    ...(certificateAuthorityData === ''
      ? [required('spec.certificateAuthorityData', 'clusters of Amazon EKS have an authority of their own')]
      : certificateAuthorityData.length > MOST_AUTHORITY
        ? [
            invalid(
              'spec.certificateAuthorityData',
              '<redacted>',
              `may not be more than ${MOST_AUTHORITY} characters with spec.credentials.eks`,
            ),
          ]
        : []),
  ]
}

/** It is part of the record of each Secret. Those of EKS have 1,500 characters. */
const MOST_AUTHORITY = 8192

/** Returns the errors for what has changed. The messages do not repeat a password. */
function validateNetwork({ proxyURL = '', tlsServerName = '' }: Network, before: Network = {}): FieldError[] {
  const proxyRule = 'must be an https, http or socks5 URL with a host, without user, path and query'
  return [
    ...(proxyURL === '' || proxyURL === before.proxyURL || isProxyUrl(proxyURL)
      ? []
      : [invalid('spec.proxyURL', withoutPassword(proxyURL), proxyRule)]),
    ...(tlsServerName === '' || tlsServerName === before.tlsServerName || isTlsServerName(tlsServerName)
      ? []
      : [invalid('spec.tlsServerName', tlsServerName, 'must be a DNS name, without a port')]),
  ]
}

interface ClusterSpec extends Network {
  server?: string
  certificateAuthorityData?: string
  tokens?: string
  serviceAccounts?: { namespace?: string }
  credentials?: { secretRef?: { name?: string }; eks?: { clusterName?: string; region?: string } }
}

function validateHost(host: string | undefined): FieldError[] {
  if (host === undefined || ingressUrl({ host }) !== undefined) return []
  const detail = 'must be a host, or a host and port, that clients can reach: without scheme, path, space and wildcard'
  return [invalid('spec.accessPoint.ingress.host', withoutPassword(host), detail)]
}

/** The messages do not repeat the value: it could have a private key. Everybody who may read the object would see that. */
function validateAuthority(data: string | undefined): FieldError[] {
  if (data === undefined) return []
  const pem = fromBase64(data) ?? ''
  const refused = (why: string) => [invalid('spec.certificateAuthorityData', '<redacted>', why)]
  if (!parseCertificates(pem)) return refused('must be certificates in PEM, encoded with base64')
  return hasOtherBlocks(pem)
    ? refused('must have certificates only, and no other PEM block, such as a private key')
    : []
}

/** Whatever the prefix of a deployment is, a name that the schema allows is not too long. */
function validateSecret(reference: string | undefined): FieldError[] {
  const name = reference === undefined ? '' : secretName('', reference, 'spec.credentialsSecretRef.secretName')
  return typeof name === 'string' ? [] : [name.error]
}
