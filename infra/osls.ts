/** Runs the deploy tool (osls) and builds its arguments. */
import { spawn } from 'node:child_process'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { forms } from '../lib/server/process/variables.ts'
import { type Option, UsageError } from './command.ts'
import { readValues, stageError } from './settings/values.ts'

/** Options that name a deployment. They are required, so that nothing is deployed or removed by default. */
export const target = {
  stage: { type: 'string', value: 'STAGE', required: true, help: `name of the deployment: ${forms.STAGE[1]}` },
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
  help: 'a setting (docs/settings.md); pass all each time: omitted ones return to their defaults',
} as const satisfies Option

export interface StackTarget {
  stage?: string | undefined
  region?: string | undefined
  'aws-profile'?: string | undefined
  param?: readonly string[]
}

/** Returns the values of the parameters of a deployment by name. Throws a UsageError when its stage or a setting is invalid. */
export function valuesOf({ stage, param = [] }: Pick<StackTarget, 'stage' | 'param'>): Record<string, string> {
  const error = stage === undefined ? undefined : stageError(stage)
  if (error) throw new UsageError(`--stage ${stage} cannot be the name of a deployment: it ${error}`)
  return readValues(param)
}

/** Returns the arguments of the deploy tool for a deployment. Throws a UsageError when they are invalid. */
export function toolArguments(deployment: StackTarget): string[] {
  valuesOf(deployment)
  const { stage, region, 'aws-profile': profile, param = [] } = deployment
  return [
    ...(stage === undefined ? [] : [`--stage=${stage}`]),
    ...(region === undefined ? [] : [`--region=${region}`]),
    ...(profile === undefined ? [] : [`--aws-profile=${profile}`]),
    ...param.map((one) => `--param=${one}`),
  ]
}

const root = join(import.meta.dirname, '..')

/**
 * Returns the environment of the deploy tool. Its output is read, so it has no colours although a CI job asks for them. It keeps nothing
 * in the home folder of the user, which may be missing or read-only in a container.
 */
export const toolEnvironment = (project = root): NodeJS.ProcessEnv => ({
  ...process.env,
  FORCE_COLOR: '0',
  SLS_SCHEMA_CACHE_BASE_DIR: join(project, 'node_modules', '.cache'),
  // The tool asks for the home, which a user without an entry in the system's list of users does not have.
  ...(!hasHome() && { HOME: join(project, '.local') }),
})

function hasHome(): boolean {
  try {
    return homedir() !== ''
  } catch {
    return false
  }
}

/**
 * Runs the deploy tool in the project and returns its standard output. Throws with its whole output when it fails. `tags` are those of
 * the stack, which infra/stack/plugin.cjs reads.
 */
export function osls(
  command: string,
  options: readonly string[],
  tags: Readonly<Record<string, string>> = {},
): Promise<string> {
  const script = join(root, 'node_modules', 'serverless', 'bin', 'serverless.js')
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...command.split(' '), ...options], {
      cwd: root,
      env: { ...toolEnvironment(), KEYPLANE_STACK_TAGS: JSON.stringify(tags) },
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
