/** Defines what a plugin of kubectl answers with: a token, or a client certificate with its key. */
import { isBearer } from '../../../core/src/forms.ts'

/** The status of an ExecCredential (client.authentication.k8s.io/v1). */
export type Credential = { expirationTimestamp?: string } & (
  | { token: string }
  | { clientCertificateData: string; clientKeyData: string }
)

const MAX_LENGTH = 64 * 1024
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

/** Returns the credential that the value is, without other members. Returns undefined if it is none. */
export function credentialIn(value: unknown): Credential | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { token, clientCertificateData, clientKeyData, expirationTimestamp } = value as Record<string, unknown>
  const expiry = expirationTimestamp === undefined ? {} : { expirationTimestamp }
  if (!isExpiry(expiry)) return undefined
  const others = [clientCertificateData, clientKeyData]
  if (isText(token) && isBearer(token) && others.every((one) => one === undefined)) return { token, ...expiry }
  if (token !== undefined || !isPem(clientCertificateData, 'CERTIFICATE')) return undefined
  return isPem(clientKeyData, '[A-Z ]*PRIVATE KEY') ? { clientCertificateData, clientKeyData, ...expiry } : undefined
}

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= MAX_LENGTH

const isPem = (value: unknown, label: string): value is string =>
  isText(value) &&
  new RegExp(`^(-----BEGIN ${label}-----\\r?\\n[A-Za-z0-9+/=\\r\\n]+-----END ${label}-----(\\r?\\n|$))+$`).test(value)

const isExpiry = (expiry: { expirationTimestamp?: unknown }): expiry is { expirationTimestamp?: string } => {
  const { expirationTimestamp: time } = expiry
  return time === undefined || (typeof time === 'string' && TIME.test(time) && !Number.isNaN(Date.parse(time)))
}
