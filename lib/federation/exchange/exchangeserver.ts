/** Declares what exchanges use of the server. */
import type { ClusterServices } from '../../clusters/services.ts'
import type { Storage } from '../../engine/storage/interface.ts'
import type { LifeLimits } from '../../keys/credential/keystatus.ts'
import type { UsageRecorder } from '../../keys/usage/recorder.ts'
import type { IssuerKeys } from '../issuerkeys.ts'
import type { Facts } from '../oauth/call.ts'
import type { Refusals } from './refusals.ts'
import type { SignatureLimit } from './signaturelimit.ts'
import type { TargetSettings } from './target.ts'

export interface ExchangeServer extends ClusterServices {
  config: TargetSettings & {
    maxExchangeTtlSeconds: number
    maxKeyTtlSeconds: number
    maxTokenTtlSeconds: number
    /** ID tokens that were issued earlier are refused. Unix seconds. */
    rejectIdTokensBefore: number
  }
  issuer: string
  storage: Storage
  limits: LifeLimits
  issuerKeys: IssuerKeys
  signatures: SignatureLimit
  refusals: Refusals
  usage: UsageRecorder
  log(level: 'info' | 'error', message: string, fields: Facts): void
}
