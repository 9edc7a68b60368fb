/** Asks a person before something that cannot be undone. */
import type { Io } from '../io/io.ts'
import { plainLines } from './plain.ts'

/** Reports whether a person can be asked: standard input and standard error are terminals. */
export const canAsk = ({ isTerminal }: Io): boolean => isTerminal.in && isTerminal.err

/** Asks a question, and reports whether the answer is yes. No answer means no. */
export async function confirm(io: Io, question: string): Promise<boolean> {
  io.err(`${plainLines(question)} [y/N] `)
  const answer = (await io.readLine())?.trim().toLowerCase()
  return answer === 'y' || answer === 'yes'
}
