/** Cleans up after the job: removes what the step has written, and revokes what its exchanges have granted. It never fails the job. */
import { type Made, removeFile, removeFolder } from '../../core/src/files/privatefiles.ts'
import { withAttempts } from './api/attempts.ts'
import { type Api, revoke } from './api/exchange.ts'
import { messageOf } from './runner/failure.ts'
import type { Log } from './runner/log.ts'
import { isFileOfSession, readExchanged, readSession } from './session/session.ts'

/** Runs the post step. */
export async function cleanUp(env: NodeJS.ProcessEnv, log: Log): Promise<void> {
  const folder = savedMade(env, 'folder')
  const kubeConfig = savedMade(env, 'kubeconfig')
  const granted = folder && readGranted(folder.path, log)
  for (const credential of granted?.credentials ?? []) log.mask(credential)
  // First of all: whatever follows may take time, and the runner may stop.
  const removals = [
    kubeConfig && reasonToStay(removeFile(kubeConfig), `${kubeConfig.path} is not the file that this step has written`),
    folder &&
      reasonToStay(removeFolder(folder, isFileOfSession), `${folder.path} is not the folder that this step has made`),
  ]
  for (const why of await Promise.all(removals)) if (why !== undefined) log.warning(why)
  await Promise.all((granted?.credentials ?? []).map((credential) => tryToRevoke(granted?.api, credential, log)))
}

/** Returns why something was not removed: because of an error, or because it is somebody else's. */
const reasonToStay = (removal: Promise<boolean>, other: string): Promise<string | undefined> =>
  removal.then((isGone) => (isGone ? undefined : `${other}, so it stays`), messageOf)

function savedMade(env: NodeJS.ProcessEnv, name: string): Made | undefined {
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

const unconfirmedText = (clusters: readonly string[]): string =>
  `The credential of this job is revoked, but not every cluster has confirmed it (${clusters.join(', ')}): it may work there until it expires.`

async function tryToRevoke(api: Api | undefined, credential: string, log: Log): Promise<void> {
  if (!api) return
  try {
    const { isRevoked, unconfirmed } = await withAttempts(() => revoke(api, credential), log.info)
    if (unconfirmed.length > 0) log.warning(unconfirmedText(unconfirmed))
    else log.info(isRevoked ? 'The credential of this job is revoked.' : 'The credential of this job had ended before.')
  } catch (error) {
    log.warning(`The credential of this job is not revoked, and ends by itself: ${messageOf(error)}`)
  }
}
