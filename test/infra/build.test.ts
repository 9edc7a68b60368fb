import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { crc32, inflateRawSync } from 'node:zlib'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { type Bundle, build, functionNames } from '../../infra/build.ts'
import { ensurePackaged } from '../../infra/package.ts'
import { testFolder } from '../support/folder.ts'

const root = testFolder()
const put = async (path: string, text: string) => {
  await mkdir(dirname(join(root, path)), { recursive: true })
  await writeFile(join(root, path), text)
}

/** What the packager refuses in serverless.yml, and a comment in its place. */
const wrong = 'configValidationMode: error\nunknown: 1'
const room = '#'.padEnd(wrong.length, '.')

beforeAll(async () => {
  await symlink(join(import.meta.dirname, '../../node_modules'), join(root, 'node_modules'))
  await put('lib/text.ts', `export const text: string = 'from lib'`)
  await put('lib/later.ts', `export const text: string = ' later'`)
  await put(
    'functions/things/get.ts',
    `import { text } from '../../lib/text.ts'\nexport const handler = async () => text + (await import('../../lib/later.ts')).text`,
  )
  await put('infra/text.ts', `export const make = (name: string) => ({ name, text: [...'sdrow'].reverse().join('') })`)
  await put('infra/made/texts.ts', `import { make } from '../text.ts'\nexport const [one, list] = [make('ä'), [1]]`)
  await put(
    'functions/constants.ts',
    `import { list, one } from 'keyplane:texts'\nexport const handler = async () => ({ list, one })`,
  )
  await put(
    'functions/table.ts',
    `import { DynamoDBClient } from '@aws-sdk/client-dynamodb'\nexport const handler = async () => new DynamoDBClient({}).config.credentials()`,
  )
  await put(
    'serverless.yml',
    [
      'service: test',
      'plugins: [./artifacts.cjs]',
      'provider: { name: aws, runtime: nodejs24.x }',
      'package: { individually: true }',
      'functions: { get: { handler: functions/things/get.handler } }',
      room,
    ].join('\n'),
  )
  await put('artifacts.cjs', artifactsPlugin)
})

const readBuilt = (path: string) => readFile(join(root, '.build', path))

/** Reads an archive by its directory and verifies redundant fields and checksums. */
function unzip(zip: Buffer): { path: string; contents: Buffer }[] {
  const end = zip.length - 22
  expect(zip.toString('latin1', end, end + 4)).toBe('PK\x05\x06')
  const files = []
  let at = zip.readUInt32LE(end + 16)
  expect(at + zip.readUInt32LE(end + 12)).toBe(end)
  for (let count = zip.readUInt16LE(end + 10); count > 0; count--) {
    expect(zip.toString('latin1', at, at + 4)).toBe('PK\x01\x02')
    const nameLength = zip.readUInt16LE(at + 28)
    const path = zip.toString('utf8', at + 46, at + 46 + nameLength)
    expect((zip.readUInt32LE(at + 38) >>> 16) & 0o777).toBe(0o644)
    const local = zip.readUInt32LE(at + 42)
    expect(zip.toString('latin1', local, local + 4)).toBe('PK\x03\x04')
    expect(zip.subarray(local + 4, local + 14)).toEqual(zip.subarray(at + 6, at + 16))
    // The beginning of 1980, whatever the time and the zone.
    expect(zip.readUInt32LE(at + 12)).toBe(0x210000)
    const begin = local + 30 + nameLength
    const size = zip.readUInt32LE(at + 20)
    // The checksum and the sizes follow the contents.
    expect(zip.subarray(begin + size + 4, begin + size + 16)).toEqual(zip.subarray(at + 16, at + 28))
    const contents = inflateRawSync(zip.subarray(begin, begin + size))
    expect([contents.length, crc32(contents)]).toEqual([zip.readUInt32LE(at + 24), zip.readUInt32LE(at + 16)])
    files.push({ path, contents })
    at += 46 + nameLength
  }
  return files
}

describe('build', () => {
  let table: Bundle | undefined
  let get: Bundle | undefined
  beforeAll(async () => {
    ;[, table, get] = await build(root)
  })

  test('a bundled function runs with its shared and its lazy imports', async () => {
    expect(await functionNames(root)).toEqual(['constants', 'table', 'things/get'])
    expect([table?.name, get?.name]).toEqual(['table', 'things/get'])
    const { handler } = await import(pathToFileURL(join(root, '.build/functions/things/get.mjs')).href)
    expect(await handler()).toBe('from lib later')
    // The client of the other function is in its own archive only.
    expect(get?.total).toBeLessThan(2_000)
    expect(table?.total).toBeGreaterThan(100_000)
    expect(get?.initial).toBeLessThan(get?.total ?? 0)
  })

  test('a function contains what a module of infra/made exports, and not what it is made from', async () => {
    const { handler } = await import(pathToFileURL(join(root, '.build/functions/constants.mjs')).href)
    expect(await handler()).toEqual({ list: [1], one: { name: 'ä', text: 'words' } })
    expect(String(await readBuilt('functions/constants.mjs'))).not.toContain('reverse')
  })

  test('the archive unpacks to a function that runs', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'keyplane-unpacked-'))
    const files = unzip(await readBuilt('archives/things-get.zip'))
    expect(files[0]?.path).toBe('functions/things/get.mjs')
    for (const { path, contents } of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), contents)
    }
    const { handler } = await import(pathToFileURL(join(folder, 'functions/things/get.mjs')).href)
    expect(await handler()).toBe('from lib later')
    await rm(folder, { recursive: true })
  })

  // threat: supply-4
  test('equal sources produce equal archives', async () => {
    const first = await readBuilt('archives/table.zip')
    await build(root)
    expect((await readBuilt('archives/table.zip')).equals(first)).toBe(true)
  })

  test('credentials come from the environment only', async () => {
    const module = unzip(await readBuilt('archives/table.zip'))
      .map(({ contents }) => contents.toString())
      .join('')
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
  // The largest bundle. What follows needs only one function.
  beforeAll(() => rm(join(root, 'functions/table.ts')))

  test('is built once for the same sources, also by concurrent callers', async () => {
    const [{ template, bundles }] = await Promise.all([
      ensurePackaged({ quiet: true, root }),
      ensurePackaged({ quiet: true, root }),
    ])
    const first = await readFile(template, 'utf8')
    expect(JSON.parse(first).Resources.GetLambdaFunction.Properties.Handler).toBe('functions/things/get.handler')
    expect(await readFile(join(bundles, 'functions/things/get.mjs'), 'utf8')).toContain('from lib')
    // The template contains the time of its creation.
    await ensurePackaged({ quiet: true, root })
    expect(await readFile(template, 'utf8')).toBe(first)
  })

  test('is built again for other sources, needs no home, and throws with all that the packager says', async () => {
    await put('functions/broken.ts', 'export const handler = ')
    await expect(ensurePackaged({ quiet: true, root })).rejects.toThrow('broken.ts')
    await rm(join(root, 'functions/broken.ts'))
    // The changed sources have the length of the others.
    await put('lib/text.ts', `export const text: string = 'new text'`)
    const yml = await readFile(join(root, 'serverless.yml'), 'utf8')
    await put('serverless.yml', yml.replace(room, wrong))
    // The packager reads the setting only with the schemas that it keeps. They are copied, because making them takes seconds.
    const kept = join(homedir(), '.serverless')
    if (existsSync(kept)) await cp(kept, join(root, '.local/.serverless'), { recursive: true })
    for (const name of ['HOME', 'USERPROFILE']) vi.stubEnv(name, join(root, 'serverless.yml'))
    await expect(ensurePackaged({ quiet: true, root })).rejects.toThrow("unrecognized property 'unknown'")
    vi.unstubAllEnvs()
    await put('serverless.yml', yml)
    expect(String(await readBuilt('functions/things/get.mjs'))).toContain('new text')
  })
})

/** A plugin for the archives of this project, in place of that of infra/stack. */
const artifactsPlugin = `
  module.exports = class {
    constructor({ service }) {
      const artifact = '.build/archives/things-get.zip'
      this.hooks = { 'before:package:initialize': () => Object.assign(service.getFunction('get'), { package: { artifact } }) }
    }
  }
`
