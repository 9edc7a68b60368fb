/** Runs the deploy tool (osls) and builds its arguments. */
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Option, UsageError } from './command.ts'

const require = createRequire(import.meta.url)
const { stagePattern, stageRule } = require('./plugins/settings.cjs') as { stagePattern: string; stageRule: string }

/** Returns what is wrong with the name of a stage, as `must be …`, or undefined. */
export const stageError = (stage: string): string | undefined =>
  new RegExp(stagePattern).test(stage) ? undefined : `must be ${stageRule}`

/** Options that name a deployment. They are required, so that nothing is deployed or removed by default. */
export const target = {
  stage: { type: 'string', value: 'STAGE', required: true, help: `name of the deployment: ${stageRule}` },
  region: { type: 'string', value: 'REGION', required: true, help: 'AWS region' },
  'aws-profile': {
    type: 'string',
    value: 'PROFILE',
    help: 'AWS profile to use instead of the credentials in the environment',
  },
} as const satisfies Record<string, Option>

export const param = {
  type: 'string',
  multiple: true,
  value: 'NAME=VALUE',
  help: 'a setting (docs/deploying.md); pass all each time: omitted ones return to their defaults',
} as const satisfies Option

export interface StackTarget {
  stage?: string | undefined
  region?: string | undefined
  'aws-profile'?: string | undefined
  param?: readonly string[]
}

/** Returns the arguments of the deploy tool for a deployment. Throws a UsageError when they are invalid. */
export function toolArguments({ stage, region, 'aws-profile': profile, param = [] }: StackTarget): string[] {
  const error = stage === undefined ? undefined : stageError(stage)
  if (error) throw new UsageError(`--stage ${stage} cannot be the name of a deployment: it ${error}`)
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

/** Runs the deploy tool in the project and returns its standard output. Throws with its whole output when it fails. */
export function osls(command: string, options: readonly string[]): Promise<string> {
  const script = join(root, 'node_modules', 'serverless', 'bin', 'serverless.js')
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...command.split(' '), ...options], {
      cwd: root,
      // The tool would wait for the end of an input that is not a terminal.
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

/** Returns the outputs of the deployed stack by name. Throws when there is no stack. */
export async function outputsOf(target: readonly string[]): Promise<Record<string, string>> {
  const [, outputs = ''] = (await osls('info --verbose', target)).split('Stack Outputs:\n')
  return Object.fromEntries([...outputs.matchAll(/^ {2}(\w+): (.*)$/gm)].map(([, name, value]) => [name, value]))
}
