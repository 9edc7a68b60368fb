/** Lints the template with cfn-lint, which knows the schemas of all resource types and the rules of CloudFormation. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { additions, packageWith } from '../infra/everysetting.ts'
import { installed } from './emulator.ts'

let folder: string
let bin: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyplane-lint-'))
  bin = await installed('linter')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Returns the findings. */
async function lint(template: string): Promise<string> {
  const file = join(folder, 'template.json')
  await writeFile(file, template)
  // Exits with another code than 0 for findings.
  const { stdout } = await promisify(execFile)(join(bin, 'cfn-lint'), ['--regions', 'eu-central-1', '--', file]).catch(
    (error: { stdout: string }) => error,
  )
  return stdout
}

test('the template with the default settings has no findings', async () => {
  expect(await lint(await packageWith({}))).toBe('')
})

test('the template with every setting that adds resources has no findings, and one with a mistake has', async () => {
  const template = await packageWith(additions)
  expect(await lint(template)).toBe('')
  const mistaken = template.replace('"RegionalCertificateArn"', '"RegionalCertificate"')
  expect(await lint(mistaken)).toContain("'RegionalCertificate' was unexpected")
})
