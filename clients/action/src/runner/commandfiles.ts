/** Gives values to the steps that follow, by the files that the runner reads after this step. */
import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { Failure } from './failure.ts'

type CommandFile = 'GITHUB_ENV' | 'GITHUB_OUTPUT' | 'GITHUB_STATE'

export interface CommandFiles {
  /** Sets an environment variable of the steps that follow. */
  setVariable(name: string, value: string): void
  setOutput(name: string, value: string): void
  /** Keeps a value for the post step, which gets it as `STATE_NAME`. */
  saveState(name: string, value: string): void
}

/** Returns the command files of a step. Throws when the runner gave none. */
export function commandFiles(env: NodeJS.ProcessEnv): CommandFiles {
  const writer = (variable: CommandFile) => {
    const path = env[variable]
    if (!path) throw new Failure(`${variable} is not set: this program runs as a step of GitHub Actions`)
    return (name: string, value: string): void => appendFileSync(path, entry(name, value))
  }
  return {
    setVariable: writer('GITHUB_ENV'),
    setOutput: writer('GITHUB_OUTPUT'),
    saveState: writer('GITHUB_STATE'),
  }
}

/** Returns the entry of a value. The delimiter is random, so that no value can end its own entry and begin another. */
function entry(name: string, value: string): string {
  const delimiter = `keyplane-${randomUUID()}`
  return `${name}<<${delimiter}\n${value}\n${delimiter}\n`
}
