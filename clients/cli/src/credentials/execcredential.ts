/** Speaks the protocol of credential plugins: client.authentication.k8s.io/v1. */
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import type { Credential } from './credential.ts'

const GROUP = 'client.authentication.k8s.io'
const VERSION = `${GROUP}/v1`

/** Returns the answer of a plugin. */
export const execCredential = (status: Credential): string =>
  `${JSON.stringify({ apiVersion: VERSION, kind: 'ExecCredential', status })}\n`

/** Throws a CliError if the client that runs this plugin expects an answer in another version. */
export function checkExecInfo({ env }: Pick<Io, 'env'>): void {
  const text = env.KUBERNETES_EXEC_INFO
  if (!text) return
  let asked: unknown
  try {
    asked = (JSON.parse(text) as { apiVersion?: unknown } | null)?.apiVersion
  } catch {
    throw new CliError('KUBERNETES_EXEC_INFO is not JSON: this program was not started by a client of Kubernetes.')
  }
  if (asked === VERSION) return
  const version = typeof asked === 'string' ? asked.slice(0, 100) : 'another version'
  throw new CliError(`The kube config asks for ${version}, but this plugin answers ${VERSION} only.`, {
    hint: `Write "apiVersion: ${VERSION}" below "exec" in the kube config.`,
  })
}
