/** Reads the credentials of a virtual cluster from Secrets Manager. */

import { formatValue } from '../meta/encoding/badvalue.ts'
import { type Credentials, parseCredentials } from './cluster/credentials.ts'
import { clusterError } from './cluster/failure.ts'
import { fromBase64, parseCertificates, toPem } from './cluster/pem.ts'
import { type Instance, ingressUrl, labelOf } from './instance.ts'
import { secretName } from './secretname.ts'
import { SecretError, type Secrets } from './secrets.ts'

export interface SecretServices {
  secrets: Pick<Secrets, 'get' | 'refresh'>
  /** `keyplane/STAGE/virtualclusters/`, the only prefix that IAM allows. */
  secretPrefix: string
}

/**
 * Returns the credentials in the secret. Rejects with a ClusterError: `no-credentials` when the secret does not exist,
 * `credentials` when it is unusable. `fresh` bypasses the cache, for when the virtual cluster rejects cached
 * credentials.
 */
export async function clusterCredentials(
  instance: Instance,
  { secrets, secretPrefix }: SecretServices,
  fresh = false,
): Promise<Credentials> {
  const cluster = labelOf(instance)
  const name = secretName(secretPrefix, instance.secretReference, 'spec.credentialsSecretRef.secretName')
  if (typeof name !== 'string') throw clusterError('credentials', cluster, `${name.error.field}: ${name.error.message}`)
  const text = await (fresh ? secrets.refresh(name) : secrets.get(name)).catch((error) => {
    const missing = error instanceof SecretError && error.code === 'NotFound'
    const advice = `an administrator must store its kube config in AWS Secrets Manager, as the secret ${formatValue(name)}`
    throw missing
      ? clusterError('no-credentials', cluster, advice, error)
      : clusterError('unread-credentials', cluster, '', error)
  })
  const fallbackServer = ingressUrl(instance)
  return parseCredentials(text, { cluster, ...(fallbackServer !== undefined && { fallbackServer }) })
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
