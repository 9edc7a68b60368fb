/** Says in words why a file cannot be read or written. */

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
}

/** Returns the reason of an error of the file system, to follow a colon. */
export const reasonOf = ({ code = '', message }: NodeJS.ErrnoException): string => REASONS[code] ?? message
