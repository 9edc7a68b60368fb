/** Says in words why a file cannot be read or written. */
import { asSentence } from '../../../core/src/answers.ts'
import { CliError } from './errors.ts'

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'a part of its path is not a folder',
  EISDIR: 'it is a folder',
  EEXIST: 'it exists',
  EACCES: 'you have no permission',
  EPERM: 'you have no permission',
  EROFS: 'its file system is read-only',
  ENOSPC: 'no space is left',
  EDQUOT: 'your quota is used up',
  ELOOP: 'its symbolic links lead in a circle',
  ENAMETOOLONG: 'its name is too long',
}

/** Reports whether a file could not be replaced because it is a mount of its own, as a file that is mounted into a container. */
export const isMounted = (error: unknown): boolean => {
  const { code, syscall } = error as NodeJS.ErrnoException
  return code === 'EBUSY' && syscall === 'rename' && process.platform !== 'win32'
}

/** Returns the reason of an error of the file system, to follow a colon. */
export const reasonOf = (error: NodeJS.ErrnoException): string =>
  isMounted(error) ? 'it is mounted by itself' : reasonOfCode(error)

const reasonOfCode = ({ code = '', syscall, message }: NodeJS.ErrnoException): string =>
  // Where a folder should be made, something else is there.
  REASONS[code === 'EEXIST' && syscall === 'mkdir' ? 'ENOTDIR' : code] ?? message

/** Returns the error for the user of a failure of the file system that no command has expected; undefined for any other error. */
export function fileFailure(error: unknown): CliError | undefined {
  const { syscall, path, code = '' } = error as NodeJS.ErrnoException
  if (syscall === undefined || !(code in REASONS)) return undefined
  if (syscall === 'uv_cwd') return new CliError('The current folder does not exist any more.', { cause: error })
  const what = path === undefined ? 'Standard input' : path
  return new CliError(asSentence(`${what} cannot be used: ${reasonOf(error as Error)}`), { cause: error })
}
