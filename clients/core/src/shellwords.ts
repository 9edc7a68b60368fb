/** Writes the words of a command as a shell reads them, so that it can be pasted. */

/** The shells that people have. Those of POSIX are also on Windows, with Git. */
export type Shell = 'posix' | 'cmd' | 'powershell'

/** Returns the shell that a program was started from, as far as its environment tells. */
export function shellOf(env: Readonly<Record<string, string | undefined>>, platform: string): Shell {
  if (platform !== 'win32' || env.SHELL) return 'posix'
  // PowerShell adds the modules of the user to those of the machine, and what it starts inherits them.
  const home = env.USERPROFILE?.toLowerCase()
  return home && env.PSModulePath?.toLowerCase().includes(home) ? 'powershell' : 'cmd'
}

/** Returns the words with spaces between them, each in quotes unless it is plain. */
export const shellWords = (words: readonly string[], shell: Shell): string =>
  words.map((word) => WORD_OF[shell](word)).join(' ')

/** Returns a word for a POSIX shell. A zsh would look for the program of a word that begins with `=`. */
export const posixWord = (text: string): string =>
  /^[\w@%+:,./-][\w@%+=:,./-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

/** Double quotes mean the same to both shells of Windows. Each also has characters of its own, which the other one takes as they are. */
const WORD_OF: Record<Shell, (text: string) => string> = {
  posix: posixWord,
  cmd: (text) => (/["%]/.test(text) ? inDoubleQuotes(text).replace(/[()%!^"<>&|]/g, '^$&') : windowsWord(text)),
  powershell: (text) => (/["“”„$`]/.test(text) ? `'${text.replace(/['‘’‚‛]/g, '$&$&')}'` : windowsWord(text)),
}

/** A plain `--` would not reach a script of PowerShell, such as npm. */
const windowsWord = (text: string): string =>
  /^(-|-*\w[\w-]*|[\w./\\][\w./\\:@+-]*)$/.test(text) ? text : inDoubleQuotes(text)

/** Quotes a word as programs of Windows split their command line: backslashes before a quote are doubled. */
const inDoubleQuotes = (text: string): string =>
  `"${text.replace(/(\\*)("|$)/g, (_, backslashes, quote) => `${backslashes}${backslashes}${quote && '\\"'}`)}"`
