/** Is the step: gets an access key and writes a kube config for the steps that follow. */
import { runnerLog } from './runner/log.ts'
import { runStep } from './step.ts'

process.exitCode = await runStep(
  process.env,
  runnerLog((text) => void process.stdout.write(text)),
)
