/**
 * `npm start`: serves the whole API on this machine. Exits with 0 on a signal or when npm is gone, with 130 or 143 on a signal before it
 * serves, with 2 for a wrong option or setting, and with 1 and one sentence on failure.
 */
import { type Command, runCommand, UsageError } from '../command.ts'
import { eventLine } from './eventline.ts'
import { divertFunctionLog } from './functionlog.ts'
import { type Answered, requestLine } from './gateway/requestlines.ts'
import { npmGone } from './host/npmparent.ts'
import { inTurns, surviveFullDisk } from './host/output.ts'
import { StartupError } from './host/startuperror.ts'
import { type LocalServer, startLocalServer } from './localserver.ts'
import { deploymentSettings, readSettings } from './settings.ts'

const COMMAND = {
  call: 'npm start',
  about: 'Serves the whole API on this machine, with a demo virtual cluster behind it, until Ctrl-C.',
  options: {
    examples: { type: 'boolean', help: 'also print commands for kubectl and curl' },
    log: {
      type: 'boolean',
      help: 'also print the JSON lines that the functions log, which log.jsonl in the data folder keeps',
    },
    memory: { type: 'boolean', help: 'store no data' },
    dynamodb: {
      type: 'string',
      value: 'URL',
      help: 'keep the table in this DynamoDB or emulator, with the deployed driver',
    },
  },
  variables: {
    PORT: 'port on 127.0.0.1 and ::1; 0 selects a free port (default 8443)',
    STAGE: 'serves the API below /STAGE, as API Gateway does without a custom domain (default: at the root)',
    DATA_DIR: 'folder for data and client files (default .local)',
    AWS_ENDPOINT_URL_DYNAMODB: 'as --dynamodb',
    KUBEBUILDER_ASSETS: 'folder with etcd, kube-apiserver and kube-controller-manager; makes the demo a real cluster',
  },
  settings: deploymentSettings,
} as const satisfies Command

interface Options {
  examples: boolean
  log: boolean
  memory: boolean
  dynamodb?: string | undefined
}

async function serve(options: Options, given: Readonly<Record<string, string>>): Promise<void> {
  const signalled = Promise.withResolvers<void>()
  // Ends a start.
  const ending = new AbortController()
  surviveFullDisk(() => ending.signal.aborted)
  const end = (code: number) => {
    ending.abort(code)
    signalled.resolve()
  }
  // A second signal terminates the process at once.
  for (const [signal, number] of [
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ] as const)
    process.once(signal, () => end(128 + number))
  // Its terminal and its pipes may be gone as well.
  npmGone().then(() => end(0))
  const say = (sentence: string) => process.stdout.write(`${sentence}\n`)
  // The server's own requests at startup are not shown, nor are their events.
  let show: (answered: Answered) => void = () => {}
  let tell: (detail: string) => void = () => {}
  const log = divertFunctionLog(process.stdout, options.log)
  const settings = readSettings(options, given, process.env, process.cwd())
  let server: LocalServer
  try {
    const screen = {
      say,
      keepLog: log.keepIn,
      answered: (one: Answered) => show(one),
      published: (detail: string) => tell(detail),
    }
    server = await startLocalServer(settings, Date.now, screen, ending.signal)
  } catch (error) {
    if (!ending.signal.aborted) throw error
    process.exitCode = ending.signal.reason
    return
  }
  process.stdout.write(`${options.examples ? server.examples : ''}${server.banner}`)
  const print = inTurns((lines) => process.stdout.write(lines))
  show = (one) => print(requestLine(one, process.stdout))
  tell = (detail) => print(eventLine(detail, process.stdout))
  await signalled.promise
  await server.close()
}

await runCommand(COMMAND, (options, _, given) => serve(options, given).catch(fail))
process.exit()

function fail(error: unknown): never {
  if (error instanceof StartupError || error instanceof UsageError) throw error
  throw new StartupError(`The local server failed: ${error instanceof Error ? error.message : error}`, error)
}
