/** Asks a person before something that ends access or cannot be undone. */
import { UsageError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { note } from './messages.ts'
import { plainLines } from './plain.ts'

/** The option of all commands that ask. */
export const yesOption = { yes: { type: 'boolean', short: 'y', help: 'do not ask' } } as const

/** Reports whether a person can be asked: standard input and standard error are terminals. */
export const canAsk = ({ isTerminal }: Io): boolean => isTerminal.in && isTerminal.err

/** Throws a UsageError unless a person can be asked. What standard input says is no answer: it may be meant for another program. */
export function demandTerminal(io: Io, hint = 'Repeat the command with --yes.'): void {
  if (!canAsk(io)) throw new UsageError('There is no terminal to ask in.', hint)
}

/** Asks a question, and reports whether the answer is yes. No answer means no. */
export async function confirm(io: Io, question: string): Promise<boolean> {
  io.err(`${plainLines(question)} [y/N] `)
  const answer = (await io.readLine())?.trim().toLowerCase()
  return answer === 'y' || answer === 'yes'
}

/** Like `confirm`, and says that nothing was done if the answer is no. That is no error: the person has decided. */
export async function agreed(io: Io, question: string): Promise<boolean> {
  const isAgreed = await confirm(io, question)
  if (!isAgreed) note(io, 'Nothing was changed.')
  return isAgreed
}
