/** Writes arguments as a shell reads them, so that a call can be pasted. */

/** Returns the arguments with spaces between them, each in quotes unless it is plain. */
export const shellWords = (words: readonly string[]): string =>
  words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ')
