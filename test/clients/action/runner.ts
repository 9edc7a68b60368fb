/** Runs the Action with the variables, files and commands of the runner of GitHub: in this process, or its bundles as processes. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cleanUp } from '../../../clients/action/src/cleanup.ts'
import { type Log, runnerLog } from '../../../clients/action/src/runner/log.ts'
import { runStep } from '../../../clients/action/src/step.ts'

export const actionFolder = join(import.meta.dirname, '../../../clients/action')

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
  /** Runs the main step in this process. */
  main(): Promise<StepResult>
  /** Runs the post step in this process, with the state that the main step saved. */
  post(): Promise<StepResult>
  /** Starts the bundle of a step as a process, and does not wait for it. */
  begin(program: 'main' | 'post'): Promise<{ process: ChildProcess; ended: Promise<StepResult> }>
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
      const place = async (program: 'main' | 'post'): Promise<Place> => {
        const file = (name: string) => join(commands, `${program}-${name}`)
        for (const name of ['env', 'output', 'state']) await writeFile(file(name), '', { flag: 'a' })
        const given = { GITHUB_ENV: file('env'), GITHUB_OUTPUT: file('output'), GITHUB_STATE: file('state') }
        return { folder, env: { ...variables, ...(program === 'post' && (await state())), ...given } }
      }
      const state = async () =>
        Object.fromEntries(
          Object.entries(await readCommandFile(join(commands, 'main-state'))).map(([name, value]) => [
            `STATE_${name}`,
            value,
          ]),
        )
      return {
        main: async () => runHere(await place('main'), runStep),
        post: async () =>
          runHere(await place('post'), async (env, log) => {
            await cleanUp(env, log)
            return 0
          }),
        begin: async (program) => runProgram(program, await place(program)),
        state,
      }
    },
    stop() {
      process.chdir(tmpdir())
      return rm(folder, { recursive: true, force: true })
    },
  }
}

interface Place {
  folder: string
  env: NodeJS.ProcessEnv & { GITHUB_ENV: string; GITHUB_OUTPUT: string }
}

async function runHere(
  { folder, env }: Place,
  run: (env: NodeJS.ProcessEnv, log: Log) => Promise<number>,
): Promise<StepResult> {
  process.chdir(folder)
  let raw = ''
  const code = await run(
    env,
    runnerLog((text) => {
      raw += text
    }),
  )
  return resultOf(code, raw, env)
}

const resultOf = async (code: number | null, raw: string, { GITHUB_ENV, GITHUB_OUTPUT }: Place['env']) => ({
  code,
  raw,
  ...readLog(raw),
  variables: await readCommandFile(GITHUB_ENV),
  outputs: await readCommandFile(GITHUB_OUTPUT),
})

function runProgram(program: 'main' | 'post', { folder, env }: Place) {
  const child = spawn(process.execPath, [join(actionFolder, 'dist', `${program}.js`)], { cwd: folder, env })
  let raw = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      raw += chunk
    })
  }
  const run = async (): Promise<StepResult> => {
    const [code] = await once(child, 'close')
    return resultOf(code, raw, env)
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
