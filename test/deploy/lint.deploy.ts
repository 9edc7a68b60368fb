/** Lints the template with cfn-lint, which knows the schemas of all resource types and the rules of CloudFormation. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { additions, packageWith } from '../infra/everysetting.ts'
import { compiling, installed } from './emulator.ts'

interface Finding {
  Filename: string
  Message: string
}

/** The messages of the findings by template. */
const found: Record<'usual' | 'every' | 'mistaken', string[]> = { usual: [], every: [], mistaken: [] }

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keyplane-lint-'))
  try {
    const [bin, usual, every] = await Promise.all([installed('linter'), packageWith({}), packageWith(additions)])
    const { Resources } = JSON.parse(every)
    const domain = Object.entries<{ Type: string }>(Resources).filter(
      ([, { Type }]) => Type === 'AWS::ApiGateway::DomainName',
    )
    const mistaken = JSON.stringify({ Resources: Object.fromEntries(domain) }).replace(
      '"RegionalCertificateArn"',
      '"RegionalCertificate"',
    )
    for (const [name, template] of Object.entries({ usual, every, mistaken }))
      await writeFile(join(folder, name), template)
    const names = Object.keys(found)
    // One process: it takes seconds to load its schemas. It exits with another code than 0 for findings.
    const args = ['--format', 'json', '--regions', 'eu-central-1', '--', ...names]
    const { stdout } = await promisify(execFile)(join(bin, 'cfn-lint'), args, {
      cwd: folder,
      env: { ...process.env, ...compiling },
    }).catch((error: { stdout: string }) => error)
    for (const { Filename, Message } of JSON.parse(stdout) as Finding[])
      found[Filename as keyof typeof found].push(Message)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('the template with the default settings has no findings', () => {
  expect(found.usual).toEqual([])
})

test('the template with every setting that adds resources has no findings, and a domain with a mistake has', () => {
  expect(found.every).toEqual([])
  expect(found.mistaken).toEqual([expect.stringContaining("'RegionalCertificate' was unexpected")])
})
