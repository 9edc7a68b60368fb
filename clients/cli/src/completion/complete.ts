/** Answers the completion scripts of shells: one candidate a line, with a tab before its description. */
import type { Section } from '../arguments/command.ts'
import type { Io } from '../io/io.ts'
import { plain } from '../output/plain.ts'
import { type Candidate, completionOf } from './candidates.ts'
import { type Asked, askForNames, namesFor } from './names.ts'

/** What scripts call first. */
export const COMPLETE = '__complete'

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const
export type CompletedShell = (typeof SHELLS)[number]

/** What a script does with files itself. */
const FILES = ':files'

/** Writes the candidates for the words after `SHELL --`. Writes nothing if anything fails: nobody reads errors while typing. */
export async function complete(sections: readonly Section[], args: readonly string[], io: Io): Promise<void> {
  try {
    io.out(await answer(sections, args, { ...io, out: () => {}, err: () => {} }))
  } catch {
    // A shell goes on without candidates.
  }
}

/** Asks the server for names, without a word. */
export async function completeNames([named = '', context]: readonly string[], io: Io): Promise<void> {
  await askForNames(io, named as Asked, context).catch(() => undefined)
}

async function answer(sections: readonly Section[], args: readonly string[], io: Io): Promise<string> {
  const [shell = '', ...rest] = args
  const words = wordsFor(shell, rest.slice(rest.indexOf('--') + 1))
  const found = completionOf(sections, words)
  if (found.kind === 'files') return `${FILES}\n`
  const candidates =
    found.kind === 'words'
      ? found.words
      : (await namesFor(io, found.named, found.context)).map((name) => ({ value: found.prefix + name }))
  const current = words.at(-1) ?? ''
  const done = shell === 'bash' ? current.slice(0, lastBreak(current)) : ''
  return candidates
    .filter(({ value }) => value.startsWith(current))
    .map((one) => lineOf({ ...one, value: one.value.slice(done.length) }, shell))
    .join('')
}

const lineOf = ({ value, help }: Candidate, shell: string): string =>
  `${plain(value)}${help === undefined || shell === 'bash' ? '' : `\t${plain(help)}`}\n`

/** bash ends words at these characters, and gives them as words of their own. */
const lastBreak = (word: string): number => Math.max(word.lastIndexOf('='), word.lastIndexOf(':')) + 1

/** Returns the words as they are in the command line. The last one is unfinished. */
function wordsFor(shell: string, words: readonly string[]): string[] {
  if (shell !== 'bash') return words.map(unquoted)
  const joined: string[] = []
  let isOpen = false
  for (const word of words) {
    const isBreak = /^[=:]+$/.test(word)
    const last = joined.pop()
    if (last !== undefined && (isOpen || isBreak)) joined.push(last + word)
    else joined.push(...(last === undefined ? [] : [last]), word)
    isOpen = isBreak
  }
  return joined.map(unquoted)
}

const unquoted = (word: string): string => word.replace(/^(["'])(.*?)\1?$/s, '$2')
