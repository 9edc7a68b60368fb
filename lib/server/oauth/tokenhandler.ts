/** Composes the Lambda handler of the token endpoint. */

import { describeError } from '../../engine/meta/errors/describe.ts'
import { privateDestinations, publicDestinations } from '../../engine/outbound/addresses.ts'
import { fetchKeys } from '../../federation/discovery.ts'
import { exchange } from '../../federation/exchange/exchange.ts'
import type { ExchangeServer } from '../../federation/exchange/exchangeserver.ts'
import { createRefusals } from '../../federation/exchange/refusals.ts'
import { createSignatureLimit } from '../../federation/exchange/signaturelimit.ts'
import { createIssuerKeys, type IssuerKeysObserver } from '../../federation/issuerkeys.ts'
import type { Outcome } from '../../federation/oauth/outcomes.ts'
import type { PublicHandler } from '../lambda/publicendpoint.ts'
import { withParts } from '../process/lazy.ts'
import type { Server } from '../server.ts'
import { type OAuthEndpoint, startEndpoint } from './endpoint.ts'

/** The outcomes as metrics show them. AWS bills each value of a dimension. */
type Measured = 'granted' | 'dryRun' | 'malformed' | 'unproven' | 'refused' | 'replayed' | 'unavailable'

const unproven: ReadonlySet<Outcome> = new Set([
  'unknown_client',
  'uid_mismatch',
  'client_disabled',
  'provider_missing',
  'provider_disabled',
  'issuer',
  'audience',
  'algorithm',
  'signature',
  'key_unknown',
  'provider_claims',
  'tenancy',
])

function measuredOutcome(outcome: Outcome): Measured {
  if (outcome === 'exchanged') return 'granted'
  if (outcome === 'accepted') return 'dryRun'
  if (outcome === 'malformed' || outcome === 'method') return 'malformed'
  if (outcome === 'keys_unavailable' || outcome === 'cluster' || outcome === 'storage' || outcome === 'failed')
    return 'unavailable'
  if (outcome === 'replayed') return 'replayed'
  // After the tenancy has held, a refusal concerns the owner of the trust. Before, anyone can cause refusals.
  return unproven.has(outcome) ? 'unproven' : 'refused'
}

/** The server with what exchanges use besides. */
type Exchanging = Server & ExchangeServer

const endpoint: OAuthEndpoint<Exchanging> = {
  resource: 'oauth2/token',
  verb: 'create',
  answer: exchange,
  measure(outcome, { target }) {
    const exchange = measuredOutcome(outcome)
    const all = { dimensions: { exchange }, values: { exchanges: 1 } }
    const targets = typeof target === 'string' ? [target] : Array.isArray(target) ? target : []
    if (targets.length === 0) return [all]
    const [kind = '', ...others] = new Set(targets.map((one) => one.split('/', 1).join()))
    // A log line has one value of a dimension.
    const targeted = `${others.length === 0 ? kind : 'mixed'}.${exchange}`
    return [all, { dimensions: { targeted }, values: { targetedExchanges: targets.length } }]
  },
}

const observe = ({ log }: Server): IssuerKeysObserver => ({
  fetched({ name }, error) {
    const isFailed = error !== undefined
    const measured = [{ values: { issuerFetches: 1, issuerFetchFailures: isFailed ? 1 : 0 } }]
    const failure = isFailed ? { error: describeError(error) } : {}
    log(isFailed ? 'error' : 'info', 'issuer keys fetched', { identityProvider: name, ...failure }, measured)
  },
  stale({ name }, ageSeconds) {
    log('error', 'issuer keys are stale', { identityProvider: name }, [{ values: { staleKeys: ageSeconds } }])
  },
})

/** Returns the server with the keys of issuers, which remember keys and attempts for the life of the process. */
function exchangeServer(server: Server): Exchanging {
  const { config, sleep } = server
  const destinations = config.allowPrivateIssuers ? privateDestinations : publicDestinations
  const timeout = (ms: number) => AbortSignal.timeout(ms)
  const issuerKeys = createIssuerKeys({
    storage: server.storage,
    fetch: (source) => fetchKeys({ destinations, timeout }, source),
    observer: observe(server),
    now: Date.now,
    sleep,
  })
  const refusals = createRefusals({
    storage: server.storage,
    now: Date.now,
    failed: (error) => server.log('error', 'refusal not noted', { error: describeError(error) }),
  })
  return withParts(server, { issuerKeys, signatures: createSignatureLimit(), refusals })
}

/** Returns the Lambda handler of the token endpoint. */
export const tokenHandler = (): Promise<PublicHandler> => startEndpoint(endpoint, exchangeServer)
