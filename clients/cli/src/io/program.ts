/** Finds programs as a shell does. */
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { UsageError } from './errors.ts'

/** What Windows starts without a shell. */
const STARTABLE = ['.com', '.exe']

/** Throws a UsageError unless the command line names a program that this user may run, and that starts without a shell. */
export async function demandProgram(
  [program = '']: readonly string[],
  env: NodeJS.ProcessEnv,
  platform = process.platform,
): Promise<void> {
  const isWindows = platform === 'win32'
  if (program === '') throw new UsageError('The command after -- is missing.')
  const isPath = program.includes('/') || (isWindows && program.includes('\\'))
  const folders = isPath ? [''] : pathOf(env, platform)
  const endings = isWindows && !STARTABLE.includes(extname(program).toLowerCase()) ? STARTABLE : ['']
  if (await hasOne(program, folders, endings)) return
  if (isWindows && (await isThere(program, folders, env, platform))) {
    throw new UsageError(
      `${program} is not an .exe file, and Windows starts others, such as .cmd and .bat, only with a shell.`,
      `Nothing was changed. Run it with the shell: -- cmd /d /c ${program} …`,
    )
  }
  throw new UsageError(
    isPath ? `${program} is not a program that you can run.` : `The program "${program}" is not on the PATH.`,
    `Nothing was changed. What follows -- is run without a shell; for pipes and redirections, use: -- ${isWindows ? 'cmd /d /c "…"' : "sh -c '…'"}`,
  )
}

/** Returns the folders of the PATH. An empty one is the current folder. */
export const pathOf = ({ PATH = '' }: NodeJS.ProcessEnv, platform = process.platform): string[] =>
  PATH.split(platform === 'win32' ? ';' : ':').map((folder) => folder || '.')

/** Reports whether one of the folders has the program. Folder '' is for a program with a path. */
export function isThere(
  program: string,
  folders: readonly string[],
  env: NodeJS.ProcessEnv,
  platform = process.platform,
): Promise<boolean> {
  const isWindows = platform === 'win32'
  return hasOne(program, folders, isWindows ? ['', ...(env.PATHEXT ?? '.COM;.EXE').split(';')] : [''])
}

async function hasOne(program: string, folders: readonly string[], endings: readonly string[]): Promise<boolean> {
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
