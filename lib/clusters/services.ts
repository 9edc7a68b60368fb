/** Declares the services that the kinds of clusters use. `lib/server/server.ts` implements them. */
import type { Services } from '../keys/services.ts'
import type { IssueServices } from './boundtokens.ts'
import type { IssuerSettings } from './token/issuer.ts'
import type { Signer } from './token/signer.ts'
import type { VirtualClusterServices } from './virtualcluster.ts'

export interface ClusterServices extends Services {
  kubeConfigs: VirtualClusterServices
  tokens: { settings: IssuerSettings; signer: Signer }
  /** For clusters whose service accounts issue the tokens. */
  serviceAccounts: IssueServices
}
