/** Runs jobs as GitLab and its runner do: interpolates the inputs of a component, extends a job, and runs its scripts. */
import { spawnSync } from 'node:child_process'
import { load } from 'js-yaml'
import { type Ran, runProgram } from '../../support/programs.ts'

interface InputSpec {
  default?: string | number
  regex?: string
  type?: 'string' | 'number'
}

export interface Job {
  stage?: string
  id_tokens: Record<string, { aud: string }>
  retry: object
  before_script: string[]
  script: string[]
  after_script: string[]
}

/** Returns the jobs of a component with these inputs. Throws as GitLab refuses the pipeline. */
export function interpolate(text: string, inputs: Record<string, string | number>): Record<string, Job> {
  const [header = '', body = ''] = text.split(/^---$/m)
  const { inputs: specified } = (load(header) as { spec: { inputs: Record<string, InputSpec> } }).spec
  const unknown = Object.keys(inputs).find((name) => !(name in specified))
  if (unknown !== undefined) throw new Error(`unknown input arguments: ${unknown}`)
  const values = Object.entries(specified).map(([name, spec]) => {
    const value = inputs[name] ?? spec.default
    if (value === undefined) throw new Error(`\`${name}\` input: required value has not been provided`)
    if (typeof value !== (spec.type ?? 'string'))
      throw new Error(`\`${name}\` input: provided value is not a ${spec.type ?? 'string'}`)
    if (spec.regex !== undefined && !new RegExp(spec.regex).test(String(value)))
      throw new Error(`\`${name}\` input: provided value does not match required RegEx pattern`)
    return [name, String(value)] as const
  })
  const known = new Map(values)
  const written = body.replace(/\$\[\[ inputs\.([\w-]+) \]\]/g, (_, name: string) => {
    const value = known.get(name)
    if (value === undefined) throw new Error(`unknown interpolation key: \`${name}\``)
    return value
  })
  return load(written) as Record<string, Job>
}

/** A shell that an image may have as `sh`. */
export interface Shell {
  name: string
  command: string
  args: readonly string[]
}

/** The shells of this machine. BUSYBOX names a busybox that is not on the PATH. */
export const posixShells: readonly Shell[] = [
  { name: 'dash', command: 'dash', args: [] },
  { name: 'bash', command: 'bash', args: [] },
  { name: 'bash --posix', command: 'bash', args: ['--posix'] },
  { name: 'busybox ash', command: process.env.BUSYBOX ?? 'busybox', args: ['ash'] },
  { name: 'mksh', command: 'mksh', args: [] },
].filter(({ command, args }) => spawnSync(command, [...args, '-c', 'exit 0']).status === 0)

/** What the runner writes before the lines of a script. */
const PREAMBLE = `if set -o | grep pipefail > /dev/null; then set -o pipefail; fi
set -o errexit
set +o noclobber
`

/** Runs lines in a shell of their own, from standard input as the runner does. */
const runLines = (shell: Shell, lines: readonly string[], place: Place): Promise<Ran> =>
  runProgram(shell.command, [...shell.args, '-c', PREAMBLE + lines.join('\n')], place)

interface Place {
  cwd: string
  env: NodeJS.ProcessEnv
}

/** Runs `before_script` and `script` in one shell. */
export const runScript = (shell: Shell, { before_script, script }: Job, place: Place): Promise<Ran> =>
  runLines(shell, [...before_script, ...script], place)

/** Runs `after_script`, which has a shell of its own. */
export const runAfterScript = (shell: Shell, { after_script }: Job, place: Place): Promise<Ran> =>
  runLines(shell, after_script, place)
