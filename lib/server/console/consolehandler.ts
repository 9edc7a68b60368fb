/** Composes the Lambda handler of the console. It is public: the console is only code, and asks the API with a key of the person. */
import { acceptsGzip, compressBody } from '../lambda/compression.ts'
import { type PublicEndpoint, publicHandler } from '../lambda/publicendpoint.ts'
import { type LambdaHandler, lambdaHandler } from '../lambda/runtime.ts'
import { createMinimalServer } from '../process/minimal.ts'
import { type ConsoleFile, type ConsoleOutcome, consoleAnswers } from './answer.ts'

/** Returns the handler. It streams, because a function that does not stream may not return bytes of these media types. */
export function consoleHandler(files: readonly ConsoleFile[]): LambdaHandler {
  const server = createMinimalServer(process.env)
  const compresses = server.config.compressStreams
  const answer = consoleAnswers(files, server.config.consoleSignIn)
  const endpoint: PublicEndpoint<ConsoleOutcome> = {
    resource: 'console',
    verb: 'get',
    async answer(event, note) {
      const { name, ...answered } = answer({
        method: event.httpMethod,
        path: event.path,
        name: event.pathParameters?.proxy,
        acceptsGzip: compresses && acceptsGzip(event),
      })
      note({ name })
      return answered
    },
    measure: () => [],
  }
  const respond = publicHandler(server, endpoint)
  return lambdaHandler(
    async (event) => compressBody(await respond(event), event, { streams: true, compresses: false }),
    {
      streams: true,
    },
  )
}
