/** Lints the template of a release with cfn-lint, which knows the schemas of all resource types, and audits it with checkov. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import findings from '../../infra/findings.json' with { type: 'json' }
import { release } from '../../infra/release.ts'
import { readValues } from '../../infra/settings/values.ts'
import { strict } from '../infra/strictsettings.ts'
import { evaluate, type Template } from '../support/evaluatedtemplate.ts'
import { compiling, installed } from './emulator.ts'

let folder: string
let template: Template
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyplane-lint-'))
  await release(join(folder, 'release'), { root: join(import.meta.dirname, '../..') })
  template = JSON.parse(await readFile(join(folder, 'release/keyplane.template.json'), 'utf8'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Runs a program in the folder, and returns its output. It exits with another code than 0 for findings. */
async function run(name: 'auditor' | 'linter', program: string, args: readonly string[]): Promise<string> {
  const options = { cwd: folder, env: { ...process.env, ...compiling }, maxBuffer: 64 * 1024 * 1024 }
  const call = promisify(execFile)(join(await installed(name), program), args, options)
  return (await call.catch((error: { stdout: string }) => error)).stdout
}

test('the template has no findings of cfn-lint for any values of its parameters, and one with a mistake has', async () => {
  const { Resources } = evaluate(template, { Stage: 'e2e', ArtifactBucket: 'artifacts', Domain: 'keys.example.com' })
  const mistaken = JSON.stringify({ Resources: { Domain: Resources.DomainName } }).replace(
    '"RegionalCertificateArn"',
    '"RegionalCertificate"',
  )
  // As it is uploaded, without white space.
  const texts = { deployed: JSON.stringify(template), mistaken }
  for (const [name, text] of Object.entries(texts)) await writeFile(join(folder, name), text)
  // One process: it takes seconds to load its schemas.
  const names = Object.keys(texts)
  const found = JSON.parse(
    await run('linter', 'cfn-lint', ['--format', 'json', '--regions', 'eu-central-1', '--', ...names]),
  )
  const messagesOf = (name: string) =>
    found
      .filter(({ Filename }: { Filename: string }) => Filename === name)
      .map(({ Message }: { Message: string }) => Message)
  expect(messagesOf('deployed')).toEqual([])
  expect(messagesOf('mistaken')).toEqual([expect.stringContaining("'RegionalCertificate' was unexpected")])
})

test('with the strictest settings checkov finds what infra/findings.json explains, and nothing else', async () => {
  const values = readValues(Object.entries(strict).map(([name, value]) => `${name}=${value}`))
  const { Resources } = evaluate(template, { Stage: 'prod', ArtifactBucket: 'artifacts', ...values })
  // The document of the API takes checkov most of a minute, and has no findings.
  const { Properties } = Resources.Api as unknown as { Properties: { Body: object } }
  Properties.Body = {}
  await writeFile(join(folder, 'audited.json'), JSON.stringify({ AWSTemplateFormatVersion: '2010-09-09', Resources }))
  const args = [
    '--file',
    'audited.json',
    '--framework',
    'cloudformation',
    '--output',
    'json',
    '--compact',
    '--quiet',
    '--skip-download',
  ]
  const { results } = JSON.parse(await run('auditor', 'checkov', args)) as {
    results: { failed_checks: { check_id: string; resource: string }[] }
  }
  const found = Object.groupBy(results.failed_checks, ({ check_id }) => check_id)
  const typesOf = (checks: readonly { resource: string }[] = []) => [
    ...new Set(checks.map(({ resource }) => resource.slice(0, resource.lastIndexOf('.')))),
  ]
  expect(Object.fromEntries(Object.entries(found).map(([id, checks]) => [id, typesOf(checks)]))).toEqual(
    Object.fromEntries(Object.entries(findings).map(([id, { types }]) => [id, types])),
  )
})
