/** Is the credential plugin of a kube config with `renew`. The argument is the folder of the step. */
import { runPlugin } from './plugin.ts'

process.exitCode = await runPlugin(process.argv[2] ?? '', process.env, {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
})
