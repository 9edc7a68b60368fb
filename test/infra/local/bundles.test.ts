import { existsSync } from 'node:fs'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { type Bundles, startBundles } from '../../../infra/local/bundles.ts'
import { testFolder } from '../../support/folder.ts'

const root = testFolder()
const said: string[] = []
const put = async (path: string, text: string) => {
  await mkdir(dirname(join(root, path)), { recursive: true })
  await writeFile(join(root, path), text)
}

beforeAll(async () => {
  await symlink(join(import.meta.dirname, '../../../node_modules'), join(root, 'node_modules'))
  const imports = { '#driver': { here: './lib/here.ts', default: './lib/there.ts' } }
  await put('package.json', JSON.stringify({ type: 'module', imports }))
  await put('lib/here.ts', `export const driver: string = 'here'`)
  await put('lib/there.ts', `export const driver: string = 'there'`)
  await put('functions/a/get.ts', `import { driver } from '#driver'\nexport const handler = () => driver`)
  await put('infra/made/words.ts', `globalThis.made = true\nexport const words: string[] = ['one']`)
  await put('lib/words.ts', `import { words } from 'keyplane:words'\nexport const later = words`)
  await put('functions/words.ts', `export const handler = async () => (await import('../lib/words.ts')).later`)
})

async function start(name: string, conditions: readonly string[] = []): Promise<Bundles> {
  const folder = join(root, name)
  await put(`${name}/functions/left.mjs`, '')
  return startBundles({ folder, conditions, root, say: (sentence) => void said.push(sentence) })
}
const run = async ({ folder, complete }: Bundles, module: string) => {
  await complete(module)
  return (await import(pathToFileURL(join(folder, `${module}.mjs`)).href)).handler()
}

test('functions run with the modules of the conditions, and nothing is left of an earlier start', async () => {
  const [here, there] = [await start('here', ['here']), await start('there')]
  expect(await Promise.all([run(here, 'functions/a/get'), run(there, 'functions/a/get')])).toEqual(['here', 'there'])
  expect(existsSync(join(here.folder, 'functions/left.mjs'))).toBe(false)
})

test('what is made for a function is made at its first request, once', async () => {
  const bundles = await start('made')
  await bundles.ready
  expect(globalThis).not.toHaveProperty('made')
  expect(await Promise.all([run(bundles, 'functions/words'), run(bundles, 'functions/words')])).toEqual([
    ['one'],
    ['one'],
  ])
  expect(globalThis).toHaveProperty('made', true)
  await put('functions/words.ts', 'export const handler = ')
  await bundles.complete('functions/words')
  await rm(join(root, 'functions/words.ts'))
  Reflect.deleteProperty(globalThis, 'made')
})

test('an error names file and line', async () => {
  await put('lib/broken.ts', '\nexport const x = ')
  await put('functions/broken.ts', `import '../lib/broken.ts'`)
  const bundles = await start('broken')
  await expect(bundles.ready).rejects.toThrow(/^The functions cannot be bundled: [\s\S]*lib\/broken\.ts:2:17: ERROR/)
  await expect(bundles.complete('functions/a/get')).rejects.toThrow('lib/broken.ts:2:17')
  await rm(join(root, 'functions/broken.ts'))
})

test('an error in what is made names file and line for the person at the terminal, once', async () => {
  await put('infra/made/failing.ts', `throw new Error('main.tsx:14:0: ERROR')`)
  await put('functions/failing.ts', `export { x as handler } from 'keyplane:failing'`)
  const bundles = await start('failing')
  await bundles.ready
  const requests = [bundles.complete('functions/failing'), bundles.complete('functions/failing')]
  for (const { status } of await Promise.allSettled(requests)) expect(status).toBe('rejected')
  expect(said).toEqual([expect.stringMatching(/^The functions cannot be bundled: [\s\S]*main\.tsx:14:0/)])
  await rm(join(root, 'functions/failing.ts'))
})

test('a warning is an error', async () => {
  await put('functions/doubtful.ts', 'export const handler = (x) => x === NaN')
  await expect((await start('doubtful')).ready).rejects.toThrow('functions/doubtful.ts:1:')
  await rm(join(root, 'functions/doubtful.ts'))
})
