/** Declares the services that identity providers and trusts use. `lib/server/server.ts` implements them. */
import type { Services } from '../keys/services.ts'
import type { Provider } from './provider.ts'

/** Limits of identity providers and trusts in this deployment. */
export interface FederationSettings {
  /** The issuer of this API, the default audience of ID tokens. */
  issuer: string
  /** The URLs of this API. No provider may have one of them as its issuer. */
  own: readonly string[]
  /** Whether issuers may have private host names. */
  allowPrivate: boolean
  /** Maximum ttl of exchanged keys in seconds. */
  maxTtl: number
}

export interface FederationServices extends Services {
  federation: FederationSettings
  /** Returns an identity provider, or undefined. Does not check who may use it. */
  provider(name: string): Promise<Provider | undefined>
}
