/** The deploy tool as a command: which deployment it is about, and what it says. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { optionsIn, UsageError } from './command.ts'

const text = { type: 'string' } as const

/** Arguments of the deploy tool that name a deployment; nothing is deployed or removed by default, but packaged it may be. */
export function readTarget(args: readonly string[], { params = false, named = true } = {}): string[] {
  const options = { stage: text, region: text, 'aws-profile': text, param: { ...text, multiple: true } } as const
  const { stage, region, param = [], 'aws-profile': profile } = optionsIn(args, options)
  if (named && stage === undefined) throw new UsageError('--stage is missing')
  if (named && region === undefined) throw new UsageError('--region is missing')
  if (param.length > 0 && !params) throw new UsageError('--param is for deploy')
  const wrong = param.find((one) => !/^[a-z-]+=/.test(one))
  if (wrong !== undefined) throw new UsageError(`--param ${wrong} is not NAME=VALUE`)
  return [
    ...(stage === undefined ? [] : [`--stage=${stage}`]),
    ...(region === undefined ? [] : [`--region=${region}`]),
    ...(profile === undefined ? [] : [`--aws-profile=${profile}`]),
    ...param.map((one) => `--param=${one}`),
  ]
}

const root = join(import.meta.dirname, '..')

/** Runs it in the project and returns its standard output. Throws with all that it said when it fails. */
export function osls(command: string, options: readonly string[]): Promise<string> {
  const script = join(root, 'node_modules', 'serverless', 'bin', 'serverless.js')
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...command.split(' '), ...options], {
      cwd: root,
      // It would wait for the end of an input that is no terminal.
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    let heard = ''
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk
    })
    child.stderr.on('data', (chunk: Buffer) => {
      heard += chunk
    })
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve(said)
      else reject(new Error(`${command} failed:\n${said}${heard}`))
    })
  })
}

/** The outputs of the deployed stack by name. Throws where there is none. */
export async function outputsOf(target: readonly string[]): Promise<Record<string, string>> {
  const [, outputs = ''] = (await osls('info --verbose', target)).split('Stack Outputs:\n')
  return Object.fromEntries([...outputs.matchAll(/^ {2}(\w+): (.*)$/gm)].map(([, name, value]) => [name, value]))
}
