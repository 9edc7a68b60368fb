/** Writes commands for a shell (bash, zsh, ksh) that any text can be part of, and that can be pasted into a terminal. */
import { posixWord } from '../../../core/src/shellwords.ts'
import { UNSEEN } from './visible.ts'

/** Returns the text as one word of a command. */
export const shellWord = (text: string): string =>
  UNSEEN.test(text) ? `$'${Array.from(text.toWellFormed(), quoted).join('')}'` : posixWord(text)

/** Returns the character as part of `$'…'`: those that a terminal may act on or hide as the octal numbers of their bytes. */
function quoted(character: string): string {
  if (/['\\]/.test(character)) return `\\${character}`
  if (!UNSEEN.test(character)) return character
  return Array.from(new TextEncoder().encode(character), (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
}

/** Returns a command that reads the text from its standard input. No line of the text ends it. */
export function heredoc(command: string, text: string): string {
  const found = new Set(text.split('\n'))
  let end = 'EOF'
  while (found.has(end)) end += '_'
  return `${command} <<'${end}'\n${text}${text.endsWith('\n') ? '' : '\n'}${end}`
}

/** Returns `NAME WORD` for an option, or `NAME=WORD` for a value that looks like an option itself. */
export const option = (name: string, value: string): string =>
  value.startsWith('-') || value === ''
    ? `${name}=${value === '' ? "''" : shellWord(value)}`
    : `${name} ${shellWord(value)}`
