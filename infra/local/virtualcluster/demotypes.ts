/** The interface of the clusters that can back p-demo/demo. */

export interface DemoCluster {
  /** `https://127.0.0.1:PORT` */
  url: string
  /** PEM of the authority of its serving certificate. */
  certificateAuthority: string
  /** Token of a user who may create, approve and delete CertificateSigningRequests. */
  managerToken: string
  /** Makes the cluster ready and lets it accept tokens of this issuer for this identity. Called once. Throws a StartupError. */
  trust(issuer: TrustedIssuer): Promise<void>
  close(): Promise<void>
}

export interface TrustedIssuer {
  issuer: string
  /** PEM of the authority of the issuer's server. */
  authority: string
  /** Access key of role vcluster, for the cluster's reviews. */
  accessKey: string
  identity: { type: 'virtualCluster'; namespace: string; name: string; uid: string }
}
