/** What any cluster must offer that stands behind p-demo/demo. */

export interface DemoCluster {
  /** `https://127.0.0.1:PORT` */
  url: string
  /** PEM of the authority of its serving certificate. */
  certificateAuthority: string
  /** Of a user who may create, approve and delete requests for client certificates. */
  managerToken: string
  /** Once: from now on it is ready, and takes tokens of this issuer for this identity. Throws a StartupError. */
  trust(issuer: TrustedIssuer): Promise<void>
  close(): Promise<void>
}

export interface TrustedIssuer {
  issuer: string
  /** PEM of the authority of the issuer's server. */
  authority: string
  /** For the reviews that it asks for: of role vcluster. */
  accessKey: string
  identity: { type: 'virtualCluster'; namespace: string; name: string; uid: string }
}
