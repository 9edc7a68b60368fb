/** `npm start`: the whole API on this machine. Ends with 0 when it is told to, with 1 and one sentence when it must. */
import { type LocalServer, startLocalServer } from './server.ts'
import { readSettings } from './settings.ts'
import { StartupError } from './startuperror.ts'

async function run(): Promise<void> {
  const told = Promise.withResolvers<void>()
  // A second signal, from an impatient person, ends the process at once.
  let ended = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      ended = true
      told.resolve()
    })
  const settings = readSettings(process.argv.slice(2), process.env, process.cwd())
  let server: LocalServer
  try {
    server = await startLocalServer(settings, Date.now)
  } catch (error) {
    // Ctrl-C reaches the packager too, which fails then.
    if (ended) return
    throw error
  }
  process.stdout.write(server.banner)
  const broken = await Promise.race([told.promise, server.broken])
  await server.close()
  if (broken) throw new StartupError(broken)
}

try {
  await run()
  process.exit(0)
} catch (error) {
  process.stderr.write(`${sentenceOf(error)}\n`)
  process.exit(1)
}

function sentenceOf(error: unknown): string {
  if (error instanceof StartupError) return error.message
  const [line] = String(error instanceof Error ? error.message : error).split('\n')
  return `The local server failed: ${line}`
}
