/** Says whether Go is on `PATH`, which builds the programs in test/clients. */
import { execFileSync } from 'node:child_process'

export const hasGo = isThere()

function isThere(): boolean {
  try {
    execFileSync('go', ['version'])
    return true
  } catch {
    process.stderr.write('not run, no go on PATH: the tests with programs in Go\n')
    return false
  }
}
