/** Finds words in shell commands outside quotes and here-documents. */
import { globSync } from 'node:fs'

/** Returns the text with the contents of quotes and here-documents left out. */
export function removeQuoted(commands: string): string {
  const bare: string[] = []
  let ends: string[] = []
  let quote = ''
  for (const line of commands.split('\n')) {
    if (ends.length > 0) {
      if (line === ends[0]) ends.shift()
      continue
    }
    let kept = ''
    for (let at = 0; at < line.length; at++) {
      const char = line.charAt(at)
      if (char === '\\' && quote !== "'") at++
      else if (quote !== '') quote = char === quote ? '' : quote
      else if (char === '"' || char === "'") quote = char
      else kept += char
    }
    ends = [...line.matchAll(/<<-?\s*(['"]?)(\w+)\1/g)].map(([, , end = '']) => end)
    bare.push(kept)
  }
  return bare.join('\n')
}

/**
 * Returns the words that an interactive zsh reads differently from bash. In zsh, comments are arguments; a pattern without
 * a matching file in `folder`, `!` and a word that starts with `=` are errors.
 */
export function wordsOfOneShell(commands: string, folder: string): string[] {
  const words = removeQuoted(commands)
    .split(/[\s;|&()]+/)
    .filter((word) => !/^(\[|\]|\[\[|\]\])$/.test(word))
  const isPattern = (word: string) => /[?*[]/.test(word.replaceAll('$?', ''))
  return words.filter(
    (word) => /^[#=]|!/.test(word) || (isPattern(word) && globSync(word, { cwd: folder }).length === 0),
  )
}
