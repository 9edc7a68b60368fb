/** What exchanges use besides the server. */
import type { IssuerKeys } from '../../federation/issuerkeys.ts'
import type { Server } from '../server.ts'
import type { SignatureLimit } from './signaturelimit.ts'

export type ExchangeServer = Server & { issuerKeys: IssuerKeys; signatures: SignatureLimit }
