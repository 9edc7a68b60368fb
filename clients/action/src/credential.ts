/** Is the credential plugin of a kube config with `renew`: prints an ExecCredential with a valid token. The argument is the folder of the step. */
import { messageOf } from './runner/failure.ts'
import type { Log } from './runner/log.ts'
import { printable } from './runner/log.ts'
import { currentToken } from './session/renewal.ts'
import { readSession } from './session/session.ts'

/** Standard output belongs to kubectl, and nothing here may print a secret. */
const say = (message: string): void => void process.stderr.write(`keyplane: ${printable(message)}\n`)
const log: Log = { mask: () => {}, error: say, warning: say, info: say }

try {
  const folder = process.argv[2] ?? ''
  const { token, expires } = await currentToken(folder, readSession(folder), { env: process.env, log })
  const status = { ...(expires !== undefined && { expirationTimestamp: new Date(expires).toISOString() }), token }
  const credential = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status }
  process.stdout.write(`${JSON.stringify(credential)}\n`)
} catch (error) {
  say(messageOf(error))
  process.exitCode = 1
}
