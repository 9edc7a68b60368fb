/** CertificateSigningRequest, certificates.k8s.io/v1, as the demo virtual cluster stores it. */
export const CSR = { group: 'certificates.k8s.io', resource: 'certificatesigningrequests' } as const
export const API_VERSION = 'certificates.k8s.io/v1'
export const KIND = 'CertificateSigningRequest'
export const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client'

export interface CsrCondition {
  type: string
  status: string
  reason?: string
  message?: string
  lastUpdateTime?: string
  lastTransitionTime?: string
}

/** What a client says. */
export interface CsrSpec {
  /** base64 of PEM. */
  request: string
  signerName: string
  expirationSeconds?: number
  usages: string[]
}

/** Who it was: filled by the server. */
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
    annotations?: Record<string, string>
  }
  spec: CsrSpec & CsrRequester
  status: {
    conditions?: CsrCondition[]
    /** base64 of PEM. */
    certificate?: string
  }
}
