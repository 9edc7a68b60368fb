/** Reads the credentials of clusters from Secrets Manager. */

import { formatValue } from '../engine/meta/encoding/badvalue.ts'
import { defined } from '../engine/meta/value/defined.ts'
import { type Credentials, parseCredentials } from './cluster/credentials.ts'
import { clusterError } from './cluster/failure.ts'
import { fromBase64, parseCertificates, toPem } from './cluster/pem.ts'
import { type Instance, ingressUrl, labelOf } from './instance.ts'
import { secretName } from './secretname.ts'
import { SecretError, type Secrets } from './secrets.ts'

export interface SecretServices {
  secrets: Pick<Secrets, 'get' | 'refresh'>
  /** `keyplane/STAGE/virtualclusters/`, the only prefix that IAM allows for virtual clusters. */
  secretPrefix: string
}

/** The credentials of a virtual cluster: see `storedCredentials`. */
export const clusterCredentials = (
  instance: Instance,
  { secrets, secretPrefix }: SecretServices,
  fresh = false,
): Promise<Credentials> =>
  storedCredentials(
    {
      cluster: labelOf(instance),
      prefix: secretPrefix,
      reference: instance.secretReference,
      field: 'spec.credentialsSecretRef.secretName',
      ...defined({ fallbackServer: ingressUrl(instance) }),
    },
    secrets,
    fresh,
  )

/** Which secret has the credentials of a cluster. */
export interface StoredCredentials {
  /** The name of the cluster in messages: see clusterError. */
  cluster: string
  /** The only prefix that IAM allows for its kind. */
  prefix: string
  /** The name of the secret below the prefix, and the field that says it. */
  reference: string
  field: string
  /** The address of a cluster whose secret contains none. */
  fallbackServer?: string
}

/**
 * Returns the credentials in the secret. Rejects with a ClusterError: `no-credentials` when the secret does not exist,
 * `credentials` when it is unusable. `fresh` bypasses the cache, for when the cluster rejects cached credentials.
 */
export async function storedCredentials(
  { cluster, prefix, reference, field, fallbackServer }: StoredCredentials,
  secrets: SecretServices['secrets'],
  fresh = false,
): Promise<Credentials> {
  const name = secretName(prefix, reference, field)
  if (typeof name !== 'string') throw clusterError('credentials', cluster, `${name.error.field}: ${name.error.message}`)
  const text = await (fresh ? secrets.refresh(name) : secrets.get(name)).catch((error) => {
    const missing = error instanceof SecretError && error.code === 'NotFound'
    const advice = `an administrator must store its kube config in AWS Secrets Manager, as the secret ${formatValue(name)}`
    throw missing
      ? clusterError('no-credentials', cluster, advice, error)
      : clusterError('unread-credentials', cluster, '', error)
  })
  return parseCredentials(text, { cluster, ...defined({ fallbackServer }) })
}

/**
 * Returns the certificate authority that clients should trust, in PEM: from the instance, or else from the credentials.
 * Returns undefined when neither has one; the endpoint then has a certificate of a public authority.
 */
export function trustedAuthority(instance: Instance, credentials: Credentials | undefined): string | undefined {
  const { certificateAuthorityData } = instance
  if (certificateAuthorityData === undefined) return credentials?.certificateAuthority
  const authorities = parseCertificates(fromBase64(certificateAuthorityData) ?? '')
  if (!authorities) {
    throw clusterError('credentials', labelOf(instance), 'spec.certificateAuthorityData contains no certificate')
  }
  return toPem(authorities)
}
