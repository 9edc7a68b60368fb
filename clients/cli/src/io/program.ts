/** Finds programs as a shell does. */
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { UsageError } from './errors.ts'

const isWindows = process.platform === 'win32'

/** Throws a UsageError unless the command line names a program that this user may run. */
export async function demandProgram([program = '']: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  if (program === '') throw new UsageError('The command after -- is missing.')
  const isPath = program.includes('/') || (isWindows && program.includes('\\'))
  if (await isThere(program, isPath ? [''] : pathOf(env), env)) return
  throw new UsageError(
    isPath ? `${program} is no program that you may run.` : `The program "${program}" is not on the PATH.`,
    "Nothing was changed. What follows -- is run without a shell; for pipes and redirections, use: -- sh -c '…'",
  )
}

/** Returns the folders of the PATH. An empty one is the current folder. */
export const pathOf = ({ PATH = '' }: NodeJS.ProcessEnv): string[] =>
  PATH.split(delimiter).map((folder) => folder || '.')

/** Reports whether one of the folders has the program. Folder '' is for a program with a path. */
export async function isThere(program: string, folders: readonly string[], env: NodeJS.ProcessEnv): Promise<boolean> {
  const endings = isWindows ? ['', ...(env.PATHEXT ?? '.COM;.EXE').split(';')] : ['']
  for (const folder of folders) {
    for (const ending of endings) if (await isProgram(join(folder, `${program}${ending}`))) return true
  }
  return false
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}
