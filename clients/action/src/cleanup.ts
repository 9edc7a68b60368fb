/** Cleans up after the job: removes what the step has written, and revokes what its exchanges have granted. It never fails the job. */
import { withAttempts } from './api/attempts.ts'
import { type Api, revoke } from './api/exchange.ts'
import { messageOf } from './runner/failure.ts'
import type { Log } from './runner/log.ts'
import { type Own, removeFile, removeFolder } from './session/ownfiles.ts'
import { fileNames, readExchanged, readSession } from './session/session.ts'

/** Runs the post step. */
export async function cleanUp(env: NodeJS.ProcessEnv, log: Log): Promise<void> {
  const folder = savedOwn(env, 'folder')
  const kubeConfig = savedOwn(env, 'kubeconfig')
  const granted = folder && readGranted(folder.path, log)
  for (const credential of granted?.credentials ?? []) log.mask(credential)
  // First of all: whatever follows may take time, and the runner may stop.
  const left = [kubeConfig && removeFile(kubeConfig), folder && removeFolder(folder, fileNames)]
  for (const why of left) if (why !== undefined) log.warning(why)
  await Promise.all((granted?.credentials ?? []).map((credential) => tryToRevoke(granted?.api, credential, log)))
}

function savedOwn(env: NodeJS.ProcessEnv, name: string): Own | undefined {
  const [path, identity] = [env[`STATE_${name}`], env[`STATE_${name}-identity`]]
  return path && identity ? { path, identity } : undefined
}

/** Returns what is to be revoked. That is nothing when the step failed early, or when the post step runs again. */
function readGranted(folder: string, log: Log): { api?: Api; credentials: string[] } {
  try {
    const credentials = readExchanged(folder)
    return credentials.length === 0 ? { credentials } : { api: readSession(folder), credentials }
  } catch (error) {
    log.warning(`The credential of this job cannot be revoked, and ends by itself: ${messageOf(error)}`)
    return { credentials: [] }
  }
}

async function tryToRevoke(api: Api | undefined, credential: string, log: Log): Promise<void> {
  if (!api) return
  try {
    await withAttempts(() => revoke(api, credential), log.info)
    log.info('The credential of this job is revoked.')
  } catch (error) {
    log.warning(`The credential of this job is not revoked, and ends by itself: ${messageOf(error)}`)
  }
}
