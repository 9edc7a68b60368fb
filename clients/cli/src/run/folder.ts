/** Keeps the key of a command in a private folder, which is deleted with it. */
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { dumpYaml } from '../../../../lib/engine/meta/encoding/yaml.ts'
import { type Made, makeTemporaryFolder, removeFolder } from '../../../core/src/files/privatefiles.ts'
import type { Session } from '../api/session.ts'
import { writePrivately } from '../config/privatefile.ts'
import { reasonOf } from '../io/filefailure.ts'
import type { Io } from '../io/io.ts'
import { type Entry, emptyConfig } from '../kubeconfig/entries.ts'
import { withEntry } from '../kubeconfig/merge.ts'
import { note } from '../output/messages.ts'

const PREFIX = 'keyplane-run-'

/** Makes a folder that only this user can read: where it is gone after the login, if there is such a place. */
export async function makeFolder({ env: { XDG_RUNTIME_DIR: place = '' } }: Pick<Io, 'env'>): Promise<Made> {
  // Of another user, or of a login that is over, it cannot be written.
  const made = isAbsolute(place) ? await makeTemporaryFolder(place, PREFIX).catch(() => undefined) : undefined
  return made ?? makeTemporaryFolder(tmpdir(), PREFIX)
}

/** Writes the files of the session, and returns the variables that name them and nothing else. */
export async function fillFolder(
  folder: string,
  session: Session,
  entry: Entry | undefined,
): Promise<Record<string, string>> {
  const fileOf = async (name: string, text: string) => {
    await writePrivately(join(folder, name), text)
    return join(folder, name)
  }
  // Without a cluster the file is empty, so that kubectl does not use that of the user.
  const config = entry
    ? { ...withEntry(emptyConfig(), entry, entry.name), 'current-context': entry.name }
    : emptyConfig()
  return {
    KEYPLANE_URL: session.server,
    KEYPLANE_KEY_FILE: await fileOf('key', await session.key()),
    ...(session.certificateAuthority !== undefined && {
      KEYPLANE_CA: await fileOf('ca.crt', session.certificateAuthority),
    }),
    // There is no such file, and so no context.
    KEYPLANE_CONFIG: join(folder, 'config.json'),
    KUBECONFIG: await fileOf('kubeconfig', await dumpYaml(config)),
  }
}

export const removeRunFolder = (folder: Made): Promise<boolean> => removeFolder(folder, () => true)

/** Removes what was made. Says what is left, because the command has changed it, and lets nothing prevent the next step. */
export async function removeMade<T extends Made>(
  io: Io,
  made: T,
  remove: (made: T) => Promise<boolean>,
): Promise<void> {
  const why = await remove(made).then(
    (isGone) => (isGone ? undefined : 'something else has taken its place'),
    (error: Error) => reasonOf(error),
  )
  if (why !== undefined) note(io, `${made.path} was not deleted: ${why}.`)
}
