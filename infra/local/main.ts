/** `npm start`: the whole API on this machine. Ends with 0 when it is told to, with 1 and one sentence when it must. */
import { type Command, run } from '../command.ts'
import { type Answered, hideFunctionLogs, requestLine } from './gateway/requestlines.ts'
import { StartupError } from './host/startuperror.ts'
import { type LocalServer, startLocalServer } from './server.ts'
import { readSettings } from './settings.ts'

const COMMAND = {
  call: 'npm start',
  about: 'Serves the whole API on this machine, with a demo virtual cluster behind it, until Ctrl-C.',
  options: { memory: { type: 'boolean', help: 'keep nothing' } },
  variables: {
    PORT: 'port of 127.0.0.1, 0 for any free one (default 8443)',
    DATA_DIR: 'folder for the data and for the files of clients (default .local)',
    AWS_ENDPOINT_URL_DYNAMODB: 'address of a DynamoDB emulator, in place of the embedded one',
    KUBEBUILDER_ASSETS: 'folder with etcd, kube-apiserver and kube-controller-manager: the demo is a real cluster',
  },
} as const satisfies Command

async function serve(memory: boolean): Promise<void> {
  const told = Promise.withResolvers<void>()
  // A second signal, from an impatient person, ends the process at once.
  let ended = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      ended = true
      told.resolve()
    })
  const say = (sentence: string) => process.stdout.write(`${sentence}\n`)
  // Its own requests while it starts are nobody's.
  let show: (answered: Answered) => void = () => {}
  if (process.stdout.isTTY) hideFunctionLogs(process.stdout)
  const settings = readSettings(memory, process.env, process.cwd())
  let server: LocalServer
  try {
    server = await startLocalServer(settings, Date.now, { say, answered: (one) => show(one) })
  } catch (error) {
    // Ctrl-C reaches the packager too, which fails then.
    if (ended) return
    throw error
  }
  process.stdout.write(server.banner)
  if (process.stdout.isTTY) show = (one) => process.stdout.write(requestLine(one, process.stdout))
  const broken = await Promise.race([told.promise, server.broken])
  await server.close()
  if (broken) throw new StartupError(broken)
}

await run(COMMAND, ({ memory }) => serve(memory).catch(fail))
process.exit()

function fail(error: unknown): never {
  if (error instanceof StartupError) throw error
  const [line] = String(error instanceof Error ? error.message : error).split('\n')
  throw new StartupError(`The local server failed: ${line}`, error)
}
