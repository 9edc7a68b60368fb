/** Packages the deployment with other settings than the default ones, outside the project. */
import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ensurePackaged } from '../../infra/package.ts'

const region = 'eu-central-1'

/** Settings that add to the template, with values that validation accepts. */
export const additions = {
  domain: 'keys.example.com',
  'certificate-arn': `arn:aws:acm:${region}:123456789012:certificate/0a1b2c3d-4e5f-6a7b-8c9d-0e1f2a3b4c5d`,
  'provisioned-concurrency': '2',
  'warm-read-units': '20000',
  'warm-write-units': '8000',
  'vpc-subnets': 'subnet-0123456789abcdef0,subnet-0123456789abcdef1',
  'vpc-security-groups': 'sg-0123456789abcdef0',
  'list-concurrency': '5',
  'leak-concurrency': '2',
  'signing-keys': '2,1',
} as const

const root = join(import.meta.dirname, '../..')

/** Returns the CloudFormation template of a deployment with these settings. Rejects when the packager refuses them. */
export async function packageWith(settings: Readonly<Record<string, string>>): Promise<string> {
  await ensurePackaged({ quiet: true })
  // The packager writes below its working directory, so it gets one of its own.
  const folder = await mkdtemp(join(tmpdir(), 'keyplane-packaged-'))
  try {
    await copyFile(join(root, 'serverless.yml'), join(folder, 'serverless.yml'))
    for (const name of ['.build', 'infra', 'node_modules', 'package.json'])
      await symlink(join(root, name), join(folder, name))
    const params = Object.entries(settings).map(([name, value]) => `--param=${name}=${value}`)
    const args = [
      join(root, 'node_modules/serverless/bin/serverless.js'),
      'package',
      '--stage=prod',
      `--region=${region}`,
    ]
    const packaging = promisify(execFile)(process.execPath, [...args, ...params], { cwd: folder })
    // The packager writes errors to standard output.
    await packaging.catch(({ stdout, stderr }: { stdout: string; stderr: string }) => {
      throw new Error(stdout + stderr)
    })
    return await readFile(join(folder, '.serverless/cloudformation-template-update-stack.json'), 'utf8')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
