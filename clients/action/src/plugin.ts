/** Answers kubectl with the credential of a step. */
import { askedExecVersion, EXEC_VERSIONS, execCredential } from '../../core/src/plugin.ts'
import { Failure, messageOf } from './runner/failure.ts'
import { printable } from './runner/log.ts'
import { currentToken } from './session/renewal.ts'
import { readSession, warningOnce } from './session/session.ts'

/** What a plugin may write to. */
export interface Streams {
  /** Standard output, which belongs to kubectl. */
  out(text: string): void
  err(text: string): void
}

/** Prints an ExecCredential with a valid token of the folder of a step, or why there is none. Returns the exit code. */
export async function runPlugin(folder: string, env: NodeJS.ProcessEnv, { out, err }: Streams): Promise<number> {
  // Nothing here may print a secret.
  const say = (message: string): void => err(`keyplane: ${printable(message)}\n`)
  const log = warningOnce(folder, { mask: () => {}, error: say, warning: say, info: say })
  try {
    const version = EXEC_VERSIONS.find((one) => one === askedExecVersion(env))
    if (version === undefined) throw new Failure(`the kube config must ask for ${EXEC_VERSIONS.join(' or ')}`)
    const { token, expires } = await currentToken(folder, readSession(folder), { env, log })
    const status = { ...(expires !== undefined && { expirationTimestamp: new Date(expires).toISOString() }), token }
    out(execCredential(status, version))
    return 0
  } catch (error) {
    say(messageOf(error))
    return 1
  }
}
