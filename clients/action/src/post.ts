/** Is the post step. */
import { cleanUp } from './cleanup.ts'
import { runnerLog } from './runner/log.ts'

await cleanUp(
  process.env,
  runnerLog((text) => void process.stdout.write(text)),
)
