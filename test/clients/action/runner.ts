/** Runs the Action as the runner of GitHub does: its bundles as processes, with the variables, files and commands of the runner. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const actionFolder = new URL('../../../clients/action/', import.meta.url).pathname

/** What a step did, as the runner sees it. */
export interface StepResult {
  code: number | null
  /** Everything that the process printed, with secrets. */
  raw: string
  /** What the log of the job shows: every line with the masks that the job had set by then. */
  shown: string
  errors: string[]
  warnings: string[]
  masks: string[]
  variables: Record<string, string>
  outputs: Record<string, string>
}

export interface Step {
  main(): Promise<StepResult>
  /** Starts the main process and does not wait for it. */
  begin(): { process: ChildProcess; ended: Promise<StepResult> }
  /** Runs the post step with the state that the main step saved. */
  post(): Promise<StepResult>
  /** The state as post gets it. */
  state(): Promise<Record<string, string>>
}

export interface Runner {
  /** The folder of the machine: workspace, and `temp` as RUNNER_TEMP. */
  folder: string
  temp: string
  step(inputs: Record<string, string>, env?: Record<string, string | undefined>): Promise<Step>
  stop(): Promise<void>
}

export async function startRunner(): Promise<Runner> {
  const folder = await mkdtemp(join(tmpdir(), 'keyplane-runner-'))
  const temp = join(folder, 'temp')
  await mkdir(temp)
  let count = 0
  return {
    folder,
    temp,
    async step(inputs, env = {}) {
      const commands = join(folder, `commands-${++count}`)
      await mkdir(commands)
      const named = Object.entries(inputs).map(([name, value]) => [
        `INPUT_${name.replaceAll(' ', '_').toUpperCase()}`,
        value,
      ])
      const variables = {
        PATH: process.env.PATH,
        HOME: folder,
        RUNNER_TEMP: temp,
        GITHUB_WORKSPACE: folder,
        GITHUB_ACTIONS: 'true',
        ...Object.fromEntries(named),
        ...env,
      }
      const begin = (program: 'main' | 'post', more: Record<string, string> = {}) =>
        runProgram(program, { folder, commands, env: { ...variables, ...more } })
      const state = async () =>
        Object.fromEntries(
          Object.entries(await readCommandFile(join(commands, 'main-state'))).map(([name, value]) => [
            `STATE_${name}`,
            value,
          ]),
        )
      return {
        begin: () => begin('main'),
        main: () => begin('main').ended,
        post: async () => begin('post', await state()).ended,
        state,
      }
    },
    stop: () => rm(folder, { recursive: true, force: true }),
  }
}

interface Place {
  folder: string
  commands: string
  env: NodeJS.ProcessEnv
}

function runProgram(program: 'main' | 'post', { folder, commands, env }: Place) {
  const file = (name: string) => join(commands, `${program}-${name}`)
  const all = { ...env, GITHUB_ENV: file('env'), GITHUB_OUTPUT: file('output'), GITHUB_STATE: file('state') }
  for (const name of ['env', 'output', 'state']) writeFileSync(file(name), '', { flag: 'a' })
  const child = spawn(process.execPath, [join(actionFolder, 'dist', `${program}.js`)], { cwd: folder, env: all })
  let raw = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      raw += chunk
    })
  }
  const run = async (): Promise<StepResult> => {
    const [code] = await once(child, 'close')
    return {
      code,
      raw,
      ...readLog(raw),
      variables: await readCommandFile(file('env')),
      outputs: await readCommandFile(file('output')),
    }
  }
  return { process: child, ended: run() }
}

const decode = (data: string) => data.replaceAll('%0A', '\n').replaceAll('%0D', '\r').replaceAll('%25', '%')

/** Reads the output line by line, as the runner does: a command takes effect for the lines after it, and masks hide nothing before. */
export function readLog(raw: string): Pick<StepResult, 'shown' | 'errors' | 'warnings' | 'masks'> {
  const log = { errors: [] as string[], warnings: [] as string[], masks: [] as string[] }
  const shown: string[] = []
  const hide = (text: string) => log.masks.reduce((hidden, mask) => hidden.replaceAll(mask, '***'), text)
  for (const line of raw.split(/\r?\n/)) {
    const [, name = '', data = ''] = /^\s*::([a-z-]+)(?: [^:]*)?::(.*)$/.exec(line) ?? []
    if (name === 'add-mask') log.masks.push(decode(data))
    else if (name === 'error' || name === 'warning') {
      const text = hide(decode(data))
      log[`${name}s`].push(text)
      shown.push(text)
    } else shown.push(hide(line))
  }
  return { ...log, shown: shown.join('\n') }
}

/** Reads a file of commands as the runner does: `NAME=VALUE`, or `NAME<<DELIMITER` and lines until the delimiter. Rejects on anything else. */
export async function readCommandFile(path: string): Promise<Record<string, string>> {
  const lines = (await readFile(path, 'utf8')).split('\n')
  const values: Record<string, string> = {}
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (line === '') continue
    const [, name = '', operator = '', rest = ''] = /^(.*?)(=|<<)(.*)$/.exec(line) ?? []
    if (name === '') throw new Error(`Invalid format: ${line}`)
    if (operator === '=') {
      values[name] = rest
      continue
    }
    const end = lines.indexOf(rest, at + 1)
    if (end < 0) throw new Error(`Matching delimiter not found: ${rest}`)
    values[name] = lines.slice(at + 1, end).join('\n')
    at = end
  }
  return values
}
