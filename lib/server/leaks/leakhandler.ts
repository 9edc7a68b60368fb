/** Composes the Lambda handler of the endpoint for reports of leaks. */
import { OwnedAccessKey } from '../../apis/management/v1/ownedaccesskey.ts'
import { publicDestinations } from '../../outbound/addresses.ts'
import { type PublicHandler, publicHandler } from '../lambda/publicendpoint.ts'
import { withParts } from '../process/lazy.ts'
import { describeError } from '../process/logger.ts'
import { createServer, type Server } from '../server.ts'
import { warmUp } from '../warmup.ts'
import { type LeakServer, leakEndpoint } from './answerreport.ts'
import { createPartnerKeys } from './partnerkeys.ts'

/** Returns the server with the keys of GitHub, which it remembers for the life of the process. */
function leakServer(server: Server): LeakServer {
  const { config, log } = server
  const partnerKeys = createPartnerKeys({
    // Only signed reports need it.
    get url() {
      return config.leakKeysUrl
    },
    destinations: publicDestinations,
    timeout: (ms) => AbortSignal.timeout(ms),
    now: Date.now,
    failed: (error) => log('error', 'keys of leak reports not fetched', { error: describeError(error) }),
  })
  return withParts(server, { partnerKeys })
}

/** Returns the Lambda handler of the endpoint. */
export async function leakHandler(): Promise<PublicHandler> {
  const server = createServer(process.env)
  await warmUp(server, process.env, { table: OwnedAccessKey.table })
  return publicHandler(server, leakEndpoint(leakServer(server)))
}
