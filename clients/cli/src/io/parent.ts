/** Names the process that runs this one. */
import { readFileSync } from 'node:fs'

/** Returns the id of the parent and when it began, so that a later process with its id has another name. Only Linux says when. */
export const parentProcess = (): string => `${process.ppid}:${beginningOf(process.ppid)}`

/** Source: proc_pid_stat(5), field 22. The name of the program, in parentheses, may contain spaces. */
function beginningOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}
