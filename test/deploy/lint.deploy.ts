/** Lints the template with cfn-lint, which knows the schemas of all resource types and the rules of CloudFormation. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { additions, packageWith } from '../infra/everysetting.ts'
import { installLinter } from './emulator.ts'

let folder: string
let bin: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyplane-lint-'))
  bin = await installLinter(join(folder, 'venv'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Returns the findings. */
async function lint(template: string): Promise<string> {
  const file = join(folder, 'template.json')
  await writeFile(file, template)
  // Exits with another code than 0 for findings.
  const { stdout } = await promisify(execFile)(join(bin, 'cfn-lint'), [file]).catch(
    (error: { stdout: string }) => error,
  )
  return stdout
}

test.each([
  ['the default settings', {}],
  ['every setting that adds resources', additions],
])('the template with %s has no findings', async (_, settings) => {
  expect(await lint(await packageWith(settings))).toBe('')
})

test('the linter has findings in a template with a mistake', async () => {
  const { domain, 'certificate-arn': certificate } = additions
  const template = await packageWith({ domain, 'certificate-arn': certificate })
  const mistaken = template.replace('"RegionalCertificateArn"', '"RegionalCertificate"')
  expect(await lint(mistaken)).toContain("'RegionalCertificate' was unexpected")
})
