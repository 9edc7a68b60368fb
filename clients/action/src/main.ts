/** Is the step: gets an access key and writes a kube config for the steps that follow. */
import { messageOf } from './runner/failure.ts'
import { runnerLog } from './runner/log.ts'
import { runStep } from './step.ts'

const log = runnerLog((text) => void process.stdout.write(text))
try {
  await runStep(process.env, log)
} catch (error) {
  log.error(messageOf(error))
  process.exitCode = 1
}
