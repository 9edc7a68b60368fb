/** The CertificateSigningRequest (certificates.k8s.io/v1) that the demo virtual cluster stores. */
export const CSR = { group: 'certificates.k8s.io', resource: 'certificatesigningrequests' } as const
export const API_VERSION = 'certificates.k8s.io/v1'
export const KIND = 'CertificateSigningRequest'
export const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client'

/** A JSON object that a client sends. */
export type JsonMembers = Readonly<Record<string, unknown>>

export interface CsrCondition {
  type: string
  status: 'True'
  reason?: string
  message?: string
}

/** The members that clients set. */
export interface CsrSpec {
  /** PEM in base64. */
  request: string
  signerName: string
  expirationSeconds?: number
  usages: string[]
}

/** The requesting user, set by the server. */
export interface CsrRequester {
  username: string
  uid?: string
  groups: readonly string[]
}

export interface CsrObject {
  apiVersion: typeof API_VERSION
  kind: typeof KIND
  metadata: {
    name: string
    uid: string
    resourceVersion: string
    creationTimestamp: string
    labels?: Record<string, string>
  }
  spec: CsrSpec & CsrRequester
  status: {
    conditions?: CsrCondition[]
    /** PEM in base64. */
    certificate?: string
  }
}
