import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { crc32, inflateRawSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { build, functionNames } from '../../infra/build.ts'
import { ensurePackaged } from '../../infra/package.ts'

let root: string
const put = async (path: string, text: string) => {
  await mkdir(dirname(join(root, path)), { recursive: true })
  await writeFile(join(root, path), text)
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'keyplane-build-'))
  await symlink(join(import.meta.dirname, '../../node_modules'), join(root, 'node_modules'))
  await put('lib/text.ts', `export const text: string = 'from lib'`)
  await put(
    'functions/things/get.ts',
    `import { text } from '../../lib/text.ts'\nexport const handler = async () => text`,
  )
  await put(
    'functions/table.ts',
    `import { DynamoDBClient } from '@aws-sdk/client-dynamodb'\nexport const handler = async () => new DynamoDBClient({}).config.credentials()`,
  )
  await put(
    'serverless.yml',
    [
      'service: test',
      'plugins: [./infra/plugins/artifacts.cjs]',
      'provider: { name: aws, runtime: nodejs24.x }',
      'package: { individually: true }',
      'functions: { get: { handler: functions/things/get.handler } }',
    ].join('\n'),
  )
  await put('infra/plugins/artifacts.cjs', await readFile('infra/plugins/artifacts.cjs', 'utf8'))
})
afterAll(() => rm(root, { recursive: true }))

const built = (path: string) => readFile(join(root, '.build/functions', path))

describe('build', () => {
  test('a function is one module that runs by itself', async () => {
    expect(await functionNames(root)).toEqual(['table', 'things/get'])
    const bundles = await build(root)
    expect(bundles.map(({ name }) => name)).toEqual(['table', 'things/get'])
    expect(bundles[1]?.size).toBe((await built('things/get.mjs')).length)
    const { handler } = await import(pathToFileURL(join(root, '.build/functions/things/get.mjs')).href)
    expect(await handler()).toBe('from lib')
  })

  test('the archive holds the module under the path of its handler', async () => {
    await build(root)
    const zip = await built('things/get.zip')
    const module = await built('things/get.mjs')
    const name = 'functions/things/get.mjs'
    expect(zip.toString('latin1', 0, 4)).toBe('PK\x03\x04')
    expect(zip.toString('utf8', 30, 30 + name.length)).toBe(name)
    expect(zip.readUInt32LE(14)).toBe(crc32(module))
    const data = zip.subarray(30 + name.length, 30 + name.length + zip.readUInt32LE(18))
    expect(inflateRawSync(data)).toEqual(module)
    const central = zip.readUInt32LE(zip.length - 6)
    expect(zip.toString('latin1', central, central + 4)).toBe('PK\x01\x02')
    expect(zip.toString('utf8', central + 46, central + 46 + name.length)).toBe(name)
  })

  test('equal sources are equal archives', async () => {
    await build(root)
    const first = await built('table.zip')
    await build(root)
    expect((await built('table.zip')).equals(first)).toBe(true)
  })

  test('credentials come from the environment and nowhere else', async () => {
    await build(root)
    const module = (await built('table.mjs')).toString()
    const sources = [
      'AWS_SESSION_TOKEN',
      'credential_process',
      'AWS_CONTAINER_CREDENTIALS',
      'AWS_WEB_IDENTITY_TOKEN_FILE',
    ]
    expect(sources.filter((source) => module.includes(source))).toEqual(['AWS_SESSION_TOKEN'])
  })
})

describe('package', () => {
  test('is made once for the same sources, however many ask, and again for others', async () => {
    const [{ template, bundles }] = await Promise.all([
      ensurePackaged({ quiet: true, root }),
      ensurePackaged({ quiet: true, root }),
    ])
    const first = await readFile(template, 'utf8')
    expect(JSON.parse(first).Resources.GetLambdaFunction.Properties.Handler).toBe('functions/things/get.handler')
    expect(await readFile(join(bundles, 'functions/things/get.mjs'), 'utf8')).toContain('from lib')

    // A template names the moment of its making.
    await ensurePackaged({ quiet: true, root })
    expect(await readFile(template, 'utf8')).toBe(first)
    await put('lib/text.ts', `export const text: string = 'changed'`)
    await ensurePackaged({ quiet: true, root })
    expect(await readFile(template, 'utf8')).not.toBe(first)
    expect(await readFile(join(bundles, 'functions/things/get.mjs'), 'utf8')).toContain('changed')
  })

  test('says what is wrong', async () => {
    await put('functions/broken.ts', 'export const handler = ')
    await expect(ensurePackaged({ quiet: true, root })).rejects.toThrow('broken.ts')
    await rm(join(root, 'functions/broken.ts'))
    const yml = await readFile(join(root, 'serverless.yml'), 'utf8')
    await put('serverless.yml', `${yml}\nconfigValidationMode: error\nunknown: 1\n`)
    await expect(ensurePackaged({ quiet: true, root })).rejects.toThrow("unrecognized property 'unknown'")
  })
})
